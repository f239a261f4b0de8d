// NEEDS: full
// Mixtures of experts on types: results, refusals, plans of all forms and of their gradients.
#include <cstdint>
#include <type_traits>

#include <shardtype/nn/moe.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

namespace {

struct X : Axis<"X", 4> {};
struct Y : Axis<"Y", 2> {};
struct S : Index<"S", 64> {};
struct E : Index<"E", 8> {};
struct K : Index<"K", 2> {};
struct D : Index<"D", 32> {};
struct F : Index<"F", 16> {};
struct P : Index<"P", 4> {};
using Ids = Tensor<std::int64_t, Dim<S, X>, Dim<K>>;

template <class... Parts>
using T = Tensor<float, Parts...>;
template <class... Parts>
using I = Tensor<std::int64_t, Parts...>;
template <class Op, class... As>
inline constexpr auto verdict = checking::Resolve<Op, As...>::verdict;
template <class Op, class... As>
using result = typename checking::Resolve<Op, As...>::result;
template <class... As>
inline constexpr auto code = verdict<op::RaggedDot<D>, As...>.code;

// Results of ragged_dot by sharding.
using rules::Code;
static_assert(std::is_same_v<
              result<op::RaggedDot<D>, T<Dim<S>, Dim<D>>, T<Dim<E>, Dim<D>, Dim<F>>, I<Dim<E>>>,
              T<Dim<S>, Dim<F>>>);
static_assert(std::is_same_v<result<op::RaggedDot<D>, T<Dim<S, X>, Dim<D>>,
                                    T<Dim<E, X>, Dim<F, Y>, Dim<D>>, I<Dim<E, X>>>,
                             T<Dim<S, X>, Dim<F, Y>>>);
static_assert(std::is_same_v<result<op::RaggedDot<D>, T<Dim<S, X>, Dim<D>>,
                                    T<Dim<E>, Dim<D>, Dim<F>>, I<Dim<P, X>, Dim<E>>>,
                             T<Dim<S, X>, Dim<F>>>);
static_assert(std::is_same_v<result<op::RaggedDot<D>, T<Dim<S, X>, Dim<D, Y>>,
                                    T<Dim<E, X>, Dim<D, Y>, Dim<F>>, I<Dim<E, X>>>,
                             T<Dim<S, X>, Dim<F>, Unreduced<Y>>>);
static_assert(std::is_same_v<result<op::RaggedDot<D>, T<Dim<S, X>, Dim<D>, Unreduced<Y>>,
                                    T<Dim<E, X>, Dim<D>, Dim<F>>, I<Dim<E, X>>>,
                             T<Dim<S, X>, Dim<F>, Unreduced<Y>>>);
static_assert(std::is_same_v<result<op::RaggedDot<D>, T<Dim<S, X>, Dim<D>, Reduced<Y>>,
                                    T<Dim<E, X>, Dim<D>, Dim<F>>, I<Dim<E, X>>>,
                             T<Dim<S, X>, Dim<F>, Reduced<Y>>>);
// Gradients of the matrices: a sum over the ranks that all have them.
static_assert(std::is_same_v<result<op::RaggedOuter<E, D, F>, T<Dim<S, X>, Dim<D>>,
                                    T<Dim<S, X>, Dim<F, Y>>, I<Dim<E, X>>>,
                             T<Dim<E, X>, Dim<D>, Dim<F, Y>>>);
static_assert(std::is_same_v<result<op::RaggedOuter<F, E, D>, T<Dim<S, X>, Dim<D>>,
                                    T<Dim<S, X>, Dim<F>>, I<Dim<P, X>, Dim<E>>>,
                             T<Dim<F>, Dim<E>, Dim<D>, Unreduced<X>>>);
// Refusals.
static_assert(code<T<Dim<S, X>, Dim<D>>, T<Dim<E>, Dim<D>, Dim<F>>, I<Dim<E>>> ==
              Code::D18_rows_and_groups);
static_assert(code<T<Dim<S, X>, Dim<D>>, T<Dim<E>, Dim<D>, Dim<F>>, I<Dim<E, X>>> ==
              Code::D18_rows_and_groups);
static_assert(code<T<Dim<S>, Dim<D>>, T<Dim<E, X>, Dim<D>, Dim<F>>, I<Dim<E>>> ==
              Code::D18_rows_and_groups);
static_assert(code<T<Dim<D>, Dim<S>>, T<Dim<E>, Dim<D>, Dim<F>>, I<Dim<E>>> ==
              Code::D18_rows_and_groups);
static_assert(code<T<Dim<S>, Dim<D, Y>>, T<Dim<E>, Dim<D>, Dim<F>>, I<Dim<E>>> ==
              Code::D18_rows_and_groups);
static_assert(code<T<Dim<S>, Dim<K>>, T<Dim<E>, Dim<D>, Dim<F>>, I<Dim<E>>> ==
              Code::D01_no_such_index);
static_assert(code<T<Dim<S, X>, Dim<D>>, T<Dim<E>, Dim<D>, Dim<F, X>>, I<Dim<P, X>, Dim<E>>> ==
              Code::C04_axis_splits_two);
static_assert(code<T<Dim<S>, Dim<D>>, T<Dim<E>, Dim<D>, Dim<F>>, T<Dim<E>>> ==
              Code::I01_not_integers);
static_assert(code<T<Dim<S>, Dim<D>>, Tensor<double, Dim<E>, Dim<D>, Dim<F>>, I<Dim<E>>> ==
              Code::C10_element_types_differ);
static_assert(
    code<T<Dim<S>, Dim<D>, Unreduced<X>>, T<Dim<E>, Dim<D>, Dim<F>, Unreduced<X>>, I<Dim<E>>> ==
    Code::P04_not_linear);
static_assert(code<T<Dim<S>, Dim<D>, Unreduced<X>>, T<Dim<E>, Dim<D>, Dim<F, X>>, I<Dim<E>>> ==
              Code::P06_unreduced_and_split);
static_assert(code<T<Dim<S>, Dim<D>>, T<Dim<E>, Dim<D>, Dim<F>>, I<Dim<E>, Unreduced<X>>> ==
              Code::I02_ids_unreduced);

// The plan of one product: 2 flops for each multiplication of the rank's rows.
inline constexpr auto product = plan(op::RaggedDot<D>{}, type<T<Dim<S, X>, Dim<D>>>,
                                     type<T<Dim<E, X>, Dim<D>, Dim<F>>>, type<I<Dim<E, X>>>);
static_assert(product.collectives() == 0);
static_assert(product.local_flops == 2 * 16 * 32 * 16);

// Plans of the forms.
using Tokens = T<Dim<S, X>, Dim<D>>;
using Router = T<Dim<D>, Dim<E>>;
using Into = T<Dim<E, X>, Dim<D>, Dim<F>>;
using From = T<Dim<E, X>, Dim<F>, Dim<D>>;
template <class Form>
struct Mixture {
  Form form;
  template <class A, class R, class W, class V>
  constexpr auto operator()(A const& x, R const& r, W const& w, V const& v) const {
    auto const routes = nn::router<E, K>(matmul(x, used_as<Reduced<X>>(r)), 2);
    return nn::moe(x, routes, w, v, form);
  }
};
template <class Form>
constexpr auto forward(Form form) {
  return plan(Mixture<Form>{form}, type<Tokens>, type<Router>, type<Into>, type<From>);
}
inline constexpr auto ragged = forward(nn::Ragged{});
inline constexpr auto gathered = forward(nn::Gathered{});
inline constexpr auto capacity = forward(nn::Capacity{4});
static_assert(ragged.count(Collective::all_to_all) == 3);  // counts, rows there and back
static_assert(ragged.collectives() == 3);
static_assert(capacity.collectives() == 3);
static_assert(gathered.count(Collective::all_gather) == 3);  // tokens, experts, weights
static_assert(gathered.count(Collective::reduce_scatter) == 1);
static_assert(gathered.collectives() == 4);
// Of equal loads the ragged form holds k of p parts of the rows, the gathered one all tokens and
// their sum.
static_assert(ragged.peak_bytes() < gathered.peak_bytes());
static_assert(capacity.peak_bytes() < gathered.peak_bytes());
static_assert(ragged.bytes_per_rank() < gathered.bytes_per_rank());

// Gradients: the rows go the same ways back, and nothing is sent for the experts' weights.
template <class Form>
struct Loss {
  Form form;
  template <class... As>
  constexpr auto operator()(As const&... as) const {
    return sum<Tensor<float>>(square(Mixture<Form>{form}(as...)));
  }
};
template <class Form>
constexpr auto gradients(Form form) {
  return plan(value_and_grad<0, 1, 2, 3>(Loss<Form>{form}), type<Tokens>, type<Router>, type<Into>,
              type<From>);
}
inline constexpr auto of_ragged = gradients(nn::Ragged{});
inline constexpr auto of_gathered = gradients(nn::Gathered{});
static_assert(of_ragged.backward.count(Collective::all_to_all) == 2);
static_assert(of_ragged.backward.count(Collective::all_reduce) == 1);  // of the router
static_assert(of_ragged.backward.collectives() == 3);
static_assert(of_gathered.backward.count(Collective::reduce_scatter) == 2);  // tokens, weights
static_assert(of_gathered.backward.count(Collective::all_gather) == 1);
static_assert(of_gathered.backward.collectives() == 4);

}  // namespace
