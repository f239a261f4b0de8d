// NEEDS: full
// Gradients of operations on dims with static extents: the plan of both passes exists for each.

#include <cstdint>

#include <shardtype/shardtype.hpp>

using namespace shardtype;

namespace {

struct X : Axis<"X", 2> {};
struct L : Index<"L", 6> {};
struct D : Index<"D", 4> {};
struct R : Index<"R", 2> {};
struct P : Index<"P", 3> {};
struct M : Index<"M", 12> {};
struct Q : Index<"Q", 24> {};
struct One : Index<"One", 1> {};
template <class... Parts>
using T = Tensor<double, Parts...>;
template <class... Parts>
using Ids = Tensor<std::int32_t, Parts...>;
using W = T<Dim<L>, Dim<D>>;
using Split = T<Dim<L, X>, Dim<D>>;
using Rows = T<Dim<R>, Dim<D>>;
using Part = T<Dim<P>, Dim<D>>;

// The number of collectives backward of the sum of squares of `...`, a function of `w` (and `v`).
#define BACKWARD(A, ...)                                                                   \
  plan(value_and_grad<0>([](auto const& w) { return sum(square(__VA_ARGS__)); }), type<A>) \
      .backward.collectives()
#define BACKWARD_OF_TWO(A, B, ...)                                                               \
  plan(value_and_grad<0>([](auto const& w, auto const& v) { return sum(square(__VA_ARGS__)); }), \
       type<A>, type<B>)                                                                         \
      .backward.collectives()
using FourOfThese = Ids<Dim<L>, Dim<D>>;
using TwoOfThese = Ids<Dim<R>, Dim<D>>;
using SplitIds = Ids<Dim<R, X>>;
using OneColumn = T<Dim<L>, Dim<One>>;

static_assert(BACKWARD(W, at<L>(w, 1)) == 0);
static_assert(BACKWARD(W, at<D>(at<L>(w, 2), 1)) == 0);
static_assert(BACKWARD(Split, at<L, Dim<D>>(w, 1)) == 0);
static_assert(BACKWARD(Split, at<L, Dim<D, X>>(w, 1)) == 1);
static_assert(BACKWARD(W, slice<L, P>(w, 0, 6, 2)) == 0);
static_assert(BACKWARD(W, dynamic_slice<L, R>(w, 1, 2)) == 0);
static_assert(BACKWARD_OF_TWO(W, Rows, dynamic_update<L, R>(w, v, 1)) == 0);
static_assert(BACKWARD(Part, pad<P, L>(w, 1, 0, 1)) == 0);
static_assert(BACKWARD(Part, repeat<P, L>(w, 2)) == 0);
static_assert(BACKWARD(Part, tile<P, L>(w, 2)) == 0);
static_assert(BACKWARD(W, concat<L, M>(w, w)) == 0);
static_assert(BACKWARD(W, stack<R>(w, w)) == 0);
static_assert(BACKWARD(OneColumn, squeeze<One>(w)) == 0);
static_assert(BACKWARD(W, expand<One>(w)) == 0);
static_assert(BACKWARD(W, merge_dims<L, D, Q>(w)) == 0);
static_assert(BACKWARD(W, split_dim<L, R, P>(w)) == 0);
static_assert(BACKWARD(W, tril<L, D>(w)) == 0);
static_assert(BACKWARD(W, flip<L>(roll<L>(w, 1))) == 0);
static_assert(BACKWARD_OF_TWO(W, Ids<Dim<R>>, take<L>(w, v)) == 0);
static_assert(BACKWARD_OF_TWO(Rows, Ids<Dim<R>>, scatter_add<L>(w, v, 6)) == 0);
static_assert(BACKWARD_OF_TWO(W, FourOfThese, take_along<L>(w, v)) == 0);
static_assert(BACKWARD_OF_TWO(W, TwoOfThese, take_along<L, R>(w, v)) == 0);
static_assert(BACKWARD_OF_TWO(Rows, TwoOfThese, scatter_along<L, R>(w, v, 6)) == 0);
static_assert(BACKWARD(Split, shift<L>(w, 1)) == 1);
static_assert(BACKWARD(Split, cumsum<L>(w)) == 1);
static_assert(BACKWARD(Split, cumprod<L>(w)) == 1);
static_assert(BACKWARD(W, cummax<L>(w) * cummin<L>(w)) == 0);
static_assert(BACKWARD(W, sort<D>(w)) == 0);
static_assert(BACKWARD(W, top_k<D, R>(w, 2).values) == 0);
static_assert(BACKWARD(W, logsumexp<D>(w)) == 0);
static_assert(BACKWARD(W, prod<L>(w) * max<L>(w) * norm_inf<L>(w)) == 0);
static_assert(BACKWARD(W, norm<L>(w) * stddev<L>(w)) == 0);
static_assert(BACKWARD(W, log_softmax<D>(w)) == 0);
static_assert(BACKWARD(Split, softmax<L, Dim<L, X>, Dim<D>>(w)) == 1);

// named lookups of operands that are not moved: what the result's name says is moved back, nothing
// else
static_assert(BACKWARD_OF_TWO(Split, Ids<Dim<R>>, take<L, Dim<R>, Dim<D>>(w, v)) == 0);
static_assert(BACKWARD_OF_TWO(W, SplitIds, take<L, Dim<R, X>, Dim<D>>(reduced<X>(w), v)) == 1);
constexpr auto of_part = plan(value_and_grad<0>([](auto const& w, auto const& v) {
                                return sum(square(take<L, Dim<R, X>, Dim<D>>(w, v)));
                              }),
                              type<W>, type<Ids<Dim<R>>>);
static_assert(of_part.backward.count(Collective::all_gather) == 1 &&
              of_part.backward.collectives() == 1);
constexpr auto into_part = plan(value_and_grad<0>([](auto const& w, auto const& v) {
                                  return sum(square(scatter_add<L, Dim<L, X>, Dim<D>>(w, v, 6)));
                                }),
                                type<Rows>, type<Ids<Dim<R>>>);
static_assert(into_part.backward.count(Collective::all_gather) == 1 &&
              into_part.backward.collectives() == 1);
static_assert(BACKWARD_OF_TWO(Rows, Ids<Dim<R>>,
                              scatter_add<L, Dim<L, X>, Dim<D>>(reduced<X>(w), v, 6)) == 1);

// both results of top_k in a plan of a function
constexpr auto best = plan(
    [](auto const& w) {
      auto const [values, places] = top_k<D, R>(w, 2);
      return take_along<D, R>(w, places) + values;
    },
    type<W>);
static_assert(best.collectives() == 0);
constexpr auto ties = plan(
    [](auto const& w) {
      auto const [most, count] = counted_max<Dim<D>>(w);
      return most * count;
    },
    type<Split>);
static_assert(ties.collectives() == 1);

}  // namespace
