// Linear algebra on types: results, what is refused, and plans, which send nothing.
// NEEDS: full
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

using namespace shardtype;

namespace {

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct B : Index<"B", 24> {};
struct I : Index<"I", 6> {};
struct J : Index<"J", 6> {};
struct K : Index<"K", 3> {};
struct N : Index<"N", 7> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
using Z = Kokkos::complex<double>;

template <class Op, class... As>
using result = typename checking::Resolve<Op, As...>::result;
template <class Op, class... As>
constexpr rules::Code code = checking::Resolve<Op, As...>::verdict.code;
using rules::Code;
using Solve = op::Solve<I, J>;

// Results: J in the place of I, the splits of b; any order of dims.
static_assert(std::is_same_v<result<Solve, T<Dim<B, X>, Dim<I>, Dim<J>>, T<Dim<B, X>, Dim<I>>>,
                             T<Dim<B, X>, Dim<J>>>);
static_assert(
    std::is_same_v<result<Solve, T<Dim<J>, Dim<B, X>, Dim<I>>, T<Dim<K, Y>, Dim<I>, Dim<B, X>>>,
                   T<Dim<K, Y>, Dim<J>, Dim<B, X>>>);
static_assert(std::is_same_v<result<Solve, T<Dim<I>, Dim<J>>, T<Dim<I>, Unreduced<X>>>,
                             T<Dim<J>, Unreduced<X>>>);
static_assert(std::is_same_v<result<Solve, T<Dim<I>, Dim<J>, Reduced<X>>, T<Dim<I>, Dim<K, X>>>,
                             T<Dim<J>, Dim<K, X>>>);
static_assert(
    std::is_same_v<result<Solve, T<Dim<I>, Dim<J>, Reduced<X>>, T<Dim<I>>>, T<Dim<J>, Reduced<X>>>);
static_assert(std::is_same_v<result<op::Cholesky<I, J>, T<Dim<J>, Dim<B, Y>, Dim<I>>>,
                             T<Dim<J>, Dim<B, Y>, Dim<I>>>);
using Stack = T<Dim<B, X, Y>, Dim<I>, Dim<J>>;
static_assert(std::is_same_v<decltype(linalg::inv<I, J>(std::declval<Stack>())),
                             T<Dim<B, X, Y>, Dim<J>, Dim<I>>>);
static_assert(std::is_same_v<decltype(linalg::det<I, J>(std::declval<Stack>())), T<Dim<B, X, Y>>>);
static_assert(std::is_same_v<
              decltype(linalg::slogdet<I, J>(std::declval<Tensor<Z, Dim<I>, Dim<B, X>, Dim<J>>>())
                           .logdet),
              T<Dim<B, X>>>);
static_assert(std::is_same_v<decltype(linalg::lu_factor<I, J>(std::declval<Stack>()).pivots),
                             Tensor<std::int32_t, Dim<B, X, Y>, Dim<J>>>);

// Several results: each has its own type, of its own elements.
struct P : Index<"P", 6> {};
template <class Op, class... As>
using results = typename checking::Resolve<Op, As...>::results;
static_assert(
    std::is_same_v<results<op::Eigh<I, J, P>, Tensor<Z, Dim<J>, Dim<B, X>, Dim<I>>>,
                   std::tuple<T<Dim<B, X>, Dim<P>>, Tensor<Z, Dim<P>, Dim<B, X>, Dim<I>>>>);
static_assert(
    std::is_same_v<results<op::Svd<I, N, P>,
                           Tensor<Kokkos::complex<float>, Dim<B>, Dim<I>, Dim<N>, Reduced<X>>>,
                   std::tuple<Tensor<Kokkos::complex<float>, Dim<B>, Dim<I>, Dim<P>, Reduced<X>>,
                              Tensor<float, Dim<B>, Dim<P>, Reduced<X>>,
                              Tensor<Kokkos::complex<float>, Dim<B>, Dim<P>, Dim<N>, Reduced<X>>>>);
static_assert(std::is_same_v<results<op::Qr<I, N, P>, T<Dim<I>, Dim<N>>>,
                             std::tuple<T<Dim<I>, Dim<P>>, T<Dim<P>, Dim<N>>>>);
static_assert(std::is_same_v<
              results<op::LuFactor<I, J>, T<Dim<J>, Dim<B, Y>, Dim<I>>>,
              std::tuple<T<Dim<J>, Dim<B, Y>, Dim<I>>, Tensor<std::int32_t, Dim<B, Y>, Dim<J>>>>);
static_assert(
    std::is_same_v<results<op::ScaledLu<I, J>, T<Dim<J>, Dim<B, Y>, Dim<I>>>,
                   std::tuple<T<Dim<B, Y>, Dim<J>, Dim<I>>, Tensor<std::int32_t, Dim<B, Y>, Dim<J>>,
                              Tensor<std::int32_t, Dim<B, Y>>>>);
// The first that refuses decides.
static_assert(code<op::Eigh<I, J, B>, T<Dim<B>, Dim<I>, Dim<J>>> == Code::D02_index_taken);
static_assert(code<op::Eigh<I, N, P>, T<Dim<I>, Dim<N>>> == Code::Q06_shapes);
static_assert(code<op::Svd<I, N, P>, T<Dim<I, X>, Dim<N>>> == Code::Q01_matrix_split);
static_assert(code<op::Qr<I, N, P>, T<Dim<I>, Dim<N>, Unreduced<X>>> == Code::Q02_not_linear);
static_assert(code<op::LuFactor<I, J>, Tensor<int, Dim<I>, Dim<J>>> == Code::P12_not_floating);
// A type that a second result cannot have is refused too.
struct Huge : Index<"huge", std::int64_t{1} << 57> {};
template <class L>
struct Widened {
  using operation = Widened;
  using to = Mentions<Dim<L>>;
  static constexpr std::string_view name = "widened";
  static constexpr op::Verdicts<2> rule(op::Question const& q) {
    Spec wide = q.a();
    wide.add(q.to.dims[0].label);
    return {rules::accept(q.a()), rules::accept(wide)};
  }
  template <class A>
  using element = op::Elements<checking::element_t<A>, checking::element_t<A>>;
};
static_assert(code<Widened<K>, T<Dim<I>>> == Code::ok);
// It has no way to run.
static_assert(MarksOperation<Widened<K>> && !Operation<Widened<K>> && Operation<op::Eigh<I, J, K>>);
static_assert(code<Widened<Huge>, T<Dim<I>>> == Code::T10_too_many_elements);

// Refusals.
using A = T<Dim<B, X>, Dim<I>, Dim<J>>;
using V = T<Dim<B, X>, Dim<I>>;
static_assert(code<Solve, A, V> == Code::ok);
static_assert(code<Solve, T<Dim<B>, Dim<I, X>, Dim<J>>, T<Dim<B>, Dim<I>>> ==
              Code::Q01_matrix_split);
static_assert(code<Solve, T<Dim<B>, Dim<I>, Dim<J, X>>, T<Dim<B>, Dim<I>>> ==
              Code::Q01_matrix_split);
static_assert(code<Solve, T<Dim<I>, Dim<J, Cyclic<X, 2>>>, T<Dim<I>>> == Code::Q01_matrix_split);
static_assert(code<Solve, T<Dim<I>, Dim<J>>, T<Dim<I, X>>> == Code::Q01_matrix_split);
static_assert(code<op::Cholesky<I, J>, T<Dim<I, X>, Dim<J>>> == Code::Q01_matrix_split);
static_assert(code<Solve, T<Dim<I>, Dim<J>, Unreduced<X>>, T<Dim<I>>> == Code::Q02_not_linear);
static_assert(code<Solve, T<Dim<I>, Dim<J>>, T<Dim<I>, Unreduced<Max, X>>> == Code::Q02_not_linear);
static_assert(code<op::Cholesky<I, J>, T<Dim<I>, Dim<J>, Unreduced<X>>> == Code::Q02_not_linear);
static_assert(code<Solve, A, T<Dim<B, X>, Dim<J>>> == Code::Q06_shapes);
static_assert(code<Solve, A, T<Dim<B, X>, Dim<I>, Dim<J>>> == Code::Q06_shapes);
static_assert(code<Solve, A, T<Dim<I>>> == Code::Q06_shapes);
static_assert(code<Solve, A, T<Dim<B, Y>, Dim<I>>> == Code::Q06_shapes);
static_assert(code<op::Solve<I, N>, T<Dim<I>, Dim<N>>, T<Dim<I>>> == Code::Q06_shapes);
static_assert(code<op::Solve<I, I>, A, V> == Code::T02_index_twice);
static_assert(code<op::Solve<I, K>, A, V> == Code::D01_no_such_index);
static_assert(code<Solve, Tensor<int, Dim<I>, Dim<J>>, Tensor<int, Dim<I>>> ==
              Code::P12_not_floating);
static_assert(code<Solve, Tensor<bfloat16, Dim<I>, Dim<J>>, Tensor<bfloat16, Dim<I>>> ==
              Code::P12_not_floating);
static_assert(code<Solve, A, Tensor<float, Dim<B, X>, Dim<I>>> == Code::C10_element_types_differ);

// Tall matrices over many ranks.
struct R : Index<"R", 40> {};
using Tall = op::TallQr<R, J, K>;
static_assert(std::is_same_v<decltype(linalg::qr<R, J, K>(std::declval<T<Dim<R, X>, Dim<J>>>()).q),
                             T<Dim<R, X>, Dim<K>>>);
static_assert(
    std::is_same_v<decltype(linalg::qr<R, J, K>(std::declval<T<Dim<J>, Dim<R, X, Y>>>()).r),
                   T<Dim<J>, Dim<K>>>);
static_assert(code<Tall, T<Dim<R, X>, Dim<J>>> == Code::ok);
static_assert(code<Tall, T<Dim<R, X>, Dim<J, Y>>> == Code::Q07_not_tall);
static_assert(code<Tall, T<Dim<B>, Dim<R, X>, Dim<J>>> == Code::Q07_not_tall);
static_assert(code<Tall, T<Dim<R>, Dim<J>>> == Code::Q07_not_tall);
static_assert(code<Tall, T<Dim<R, Cyclic<X, 2>>, Dim<J>>> == Code::Q07_not_tall);
static_assert(code<op::TallQr<I, N, K>, T<Dim<I, X>, Dim<N>>> == Code::Q07_not_tall);  // 6 x 7
static_assert(code<Tall, T<Dim<R, X>, Dim<J>, Unreduced<Y>>> == Code::Q02_not_linear);
static_assert(code<op::TallQr<R, J, J>, T<Dim<R, X>, Dim<J>>> == Code::D02_index_taken);
static_assert(code<Tall, Tensor<int, Dim<R, X>, Dim<J>>> == Code::P12_not_floating);
static_assert(code<op::PseudoInverse<I, J>, T<Dim<B>, Dim<I, X>, Dim<J>>> ==
              Code::Q01_matrix_split);
static_assert(
    std::is_same_v<decltype(linalg::pinv<R, J>(std::declval<T<Dim<J>, Dim<B, X>, Dim<R>>>())),
                   T<Dim<R>, Dim<B, X>, Dim<J>>>);
static_assert(std::is_same_v<
              decltype(linalg::matrix_rank<R, J>(std::declval<T<Dim<J>, Dim<B, X>, Dim<R>>>())),
              Tensor<std::int32_t, Dim<B, X>>>);

// Plans: nothing is sent; flops of the busiest rank, 12 matrices.
constexpr Plan solving = plan(Solve{}, type<A>, type<V>);
static_assert(solving.collectives() == 0);
static_assert(solving.flops() == 12 * (2 * 6 * 6 * 6 / 3 + 2 * 6 * 6));
static_assert(plan([](auto const& a) { return linalg::slogdet<I, J>(a).logdet; }, type<A>)
                  .collectives() == 0);
// One step, whose results lie beside each other: 12 matrices, their vectors and values, and what
// the kernel needs.
constexpr Plan eigen = plan(op::Eigh<I, J, P>{}, type<A>);
static_assert(eigen.collectives() == 0 && eigen.flops() == 12 * 9 * 6 * 6 * 6);
static_assert(eigen.peak_bytes() == 8 * (12 * (36 + 36 + 6) + 8 * 6 * 7));

}  // namespace
