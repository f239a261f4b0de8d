// Automatic mode at compile time: the plans of types, without any rank.
#include <type_traits>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"

using namespace shardtype;
using namespace shardtype::automatic_mode;

namespace {

// docs: lower-bound
template <std::int64_t Ranks>
struct Cube {
  struct X : Axis<"X", Ranks> {};
  struct Y : Axis<"Y", Ranks> {};
  struct Z : Axis<"Z", Ranks> {};
  struct I : Index<"I", 8192> {};
  struct J : Index<"J", 8192> {};
  struct K : Index<"K", 8192> {};
  using A = Tensor<float, Dim<I, X>, Dim<J, Z, Y>>;
  using B = Tensor<float, Dim<J, Z, X>, Dim<K, Y>>;
  static constexpr ProgramPlan plan =
      plan_traced<A, B>([](auto a, auto b) { return evaluate<Dim<I, X, Z>, Dim<K, Y>>(a * b); });
};

// The three collectives of the algorithm that meets the lower bound, and no others.
template <std::int64_t Ranks>
constexpr bool meets_the_bound() {
  ProgramPlan const& p = Cube<Ranks>::plan;
  return p.lower_bound_ratio() == 1.0 && p.count(Collective::all_gather) == 2 &&
         p.count(Collective::reduce_scatter) == 1 && p.collectives() == 3;
}
static_assert(meets_the_bound<2>());
static_assert(meets_the_bound<4>());
// docs: end

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct I : Index<"I", 64> {};
struct J : Index<"J", 128> {};
struct K : Index<"K", 32> {};
struct L : Index<"L", 16> {};

using A = Tensor<double, Dim<I, X>, Dim<J, Y>>;
using B = Tensor<double, Dim<J, Y>, Dim<K>>;
using C = Tensor<double, Dim<K>, Dim<L>>;

// An unreduced product is reduced once; a product of matching shardings sends nothing.
constexpr auto sums = plan_traced<A, B, A, B>([](auto a, auto b, auto c, auto d) {
  return evaluate<Dim<I, X>, Dim<K>>(2.0 * (a * b) - c * d);
});
static_assert(sums.count(Collective::all_reduce) + sums.count(Collective::reduce_scatter) <= 2);
constexpr auto still = plan_traced<A, B>(
    [](auto a, auto b) { return evaluate<Dim<I, X>, Dim<K>, Unreduced<Y>>(a * b); });
static_assert(still.collectives() == 0 && still.bytes_per_rank() == 0 && still.messages() == 0);
static_assert(still.flops() == 2 * 32 * 32 * 32);
static_assert(!still.lower_bound_ratio());  // the operands are not replicated

// Whether the program is legal for given axis sizes: those that the types leave open, and all that
// the result needs.
struct P : Axis<"P"> {};
struct Q : Axis<"Q"> {};
using Open = Tensor<double, Dim<I, P>, Dim<J>>;
template <class... Out>
struct Product {
  constexpr auto operator()(auto const& a, auto const& b) const {
    return evaluate<Out...>(lazy(a) * lazy(b));
  }
};
static_assert(
    valid_on<Product<Dim<I, P>, Dim<K>>, OperandTypes<Open, B>, AxisSize<P, 3>, AxisSize<Y, 4>>);
static_assert(
    valid_on<Product<Dim<I, Q>, Dim<K>>, OperandTypes<Open, B>, AxisSize<P, 3>, AxisSize<Q, 5>>);
static_assert(!valid_on<Product<Dim<I, P>, Dim<K>>, OperandTypes<Open, B>>);
static_assert(!valid_on<Product<Dim<I, Q>, Dim<K>>, OperandTypes<Open, B>, AxisSize<P, 3>>);
static_assert(
    !valid_on<Product<Dim<I, P>, Dim<K>>, OperandTypes<Open, B>, AxisSize<P, 3>, AxisSize<Y, 2>>);

// The order of a chain: A (B C), because B C is small; also if it is written in the other order.
constexpr auto left = plan_traced<A, B, C>(
    [](auto a, auto b, auto c) { return evaluate<Dim<I, X>, Dim<L>>((a * b) * c); });
constexpr auto right = plan_traced<A, B, C>(
    [](auto a, auto b, auto c) { return evaluate<Dim<I, X>, Dim<L>>(a * (b * c)); });
static_assert(left.seconds() == right.seconds() && left.flops() == right.flops());

// The mesh has more axes than the tensors mention: the plan may use them.
struct Z : Axis<"Z", 8> {};
constexpr auto wide = plan_traced<Axes<X, Y, Z>, A, B>(
    [](auto a, auto b) { return evaluate<Dim<I, X>, Dim<K>>(a * b); });
static_assert(wide.flops() <= still.flops());

// A loop whose result has the sharding of its operand.
using Step = decltype(matmul(std::declval<Tensor<double, Dim<I, X>, Dim<J>> const&>(),
                             std::declval<Tensor<double, Dim<J>, Dim<K>> const&>()));
static_assert(same_spec<Step, Tensor<double, Dim<I, X>, Dim<K>>>);
static_assert(!same_spec<Step, Tensor<double, Dim<I, Y>, Dim<K>>>);

}  // namespace

// The same plans at run time.
TEST_CASE("what the compiler plans is what is planned at run time") {
  auto const same = [](ProgramPlan const& p) {
    Identity const none[max_axes]{};
    planning::Rates const rates(Machine{}, p.program.sizes, none, p.program.axes, -1);
    ProgramPlan const again = planning::plan_program(p.program, rates);
    REQUIRE(again.size == p.size);
    for (int k = 0; k < p.size; ++k) CHECK(again.steps[k] == p.steps[k]);
  };
  same(Cube<2>::plan);
  same(Cube<4>::plan);
  same(sums);
  same(still);
  same(left);
  same(right);
}
