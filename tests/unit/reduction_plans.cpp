// Plans of reductions as functions of types alone, of tensors and as text; and their names beside
// those of std.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numeric>
#include <string>
#include <type_traits>
#include <valarray>

#include <shardtype/ops/run_explain.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"

using namespace shardtype;
using namespace shardtype::checking;

namespace {

struct X : Axis<"X", 2> {};
struct Y : Axis<"Y", 4> {};
struct V : Axis<"V"> {};
struct L : Index<"L", 1000> {};
struct M : Index<"M", 12> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};

using A = Tensor<float, Dim<L, Y>, Dim<M>>;

// The plan of a function has the plans of the reductions that it calls.
constexpr auto sizes = [](auto a) { return sum<Dim<M>>(a * a); };
static_assert(plan(sizes, type<A>).count(Collective::all_reduce) == 1);
static_assert(plan(sizes, type<A>).collectives() == 1);
static_assert(plan(sizes, type<A>).bytes_per_rank() == 2 * 48 * 3 / 4);
constexpr auto strict = [](auto a) { return max<L>(a); };
static_assert(plan(strict, type<A>).flops() == 3000 && plan(strict, type<A>).collectives() == 0);
static_assert(plan(strict, type<A>).peak_bytes() == 12000 + 48 + 48);
constexpr auto means = [](auto a) { return mean<Dim<M, Y>>(a); };
static_assert(plan(means, type<A>).count(Collective::reduce_scatter) == 1);
static_assert(plan(means, type<A>).size == 2 && plan(means, type<A>).flops() == 3000);
constexpr auto twice = [](auto a) {
  auto b = norm<Dim<M>>(a);
  for (int k = 0; k < 3; ++k) b = norm<Dim<M>>(a);
  return argmax<M>(b);
};
static_assert(plan(twice, type<A>).count(Collective::all_reduce) == 4);
static_assert(plan(twice, type<A>).bytes_per_rank() == 4 * 2 * 96 * 3 / 4);
static_assert(plan(twice, type<A>).flops() == 4 * 3000 + 12);
constexpr auto same_bits = [](auto a) { return sum<Dim<M>>(a, reproducible); };
static_assert(plan(same_bits, type<A>).bytes_per_rank() == 2 * 480 * 3 / 4);
constexpr auto counted = [](auto a) { return sum<Dim<M>>(a > 0); };
static_assert(plan(counted, type<A>).bytes_per_rank() == 2 * 96 * 3 / 4);
constexpr auto all_of_them = [](auto a) {
  static_cast<void>(any<Dim<M>>(a > 0));
  static_cast<void>(all<Dim<M>>(a > 0));
  static_cast<void>(min<Dim<M>>(a));
  static_cast<void>(prod<Dim<M>>(a));
  static_cast<void>(argmin<Dim<M>>(a));
  static_cast<void>(norm_1<Dim<M>>(a));
  static_cast<void>(norm_inf<Dim<M>>(a));
  static_cast<void>(norm<Dim<M>>(a, reproducible));
  return logsumexp<Dim<M>>(a);
};
static_assert(plan(all_of_them, type<A>).count(Collective::all_reduce) == 9);
using Open = Tensor<float, Dim<I, V>, Dim<J>>;
constexpr auto named = [](auto a) { return sum<Dim<J>>(a); };
static_assert(plan(named, type<Open>).count(Collective::all_reduce) == 1);
static_assert(plan(named, type<Open>).collectives() == 1);

std::string text(Plan const& p, Names const& names) { return "\n" + explain(p, names); }

/// A user-defined type in a namespace where the names of reductions have another meaning.
struct Own {};
template <class T>
concept Reducible = requires(T const& t) { sum(t); } || requires(T const& t) { mean(t); } ||
                    requires(T const& t) { prod(t); } || requires(T const& t) { max<I>(t); } ||
                    requires(T const& t) { shardtype::any(t); } ||
                    requires(T const& t) { norm(t, reproducible); } ||
                    requires(T const& t) { argmax(t); } || requires(T const& t) { logsumexp(t); };
static_assert(!Reducible<Own> && !Reducible<int>);

}  // namespace

// With both using directives: a name that std also has calls the reduction.
namespace beside_std {
using namespace std;  // NOLINT
auto reduced(Tensor<float, Dim<I>, Dim<J>> const& a) {
  auto const b = a > 0;
  static_assert(is_same_v<decltype(all<I>(b)), Tensor<bool, Dim<J>>>);
  static_assert(is_same_v<decltype(max<I>(a)), Tensor<float, Dim<J>>>);
  static_assert(is_same_v<decltype(min<I>(a)), Tensor<float, Dim<J>>>);
  static_assert(is_same_v<decltype(norm(a)), Tensor<float>>);
  static_assert(is_same_v<decltype(norm<I>(a)), Tensor<float, Dim<J>>>);
  return max(sum<I>(a));
}
}  // namespace beside_std

TEST_CASE("the plan of a reduction of a tensor has its sizes") {
  struct W : Axis<"W", 1> {};
  Mesh<W> const mesh(MPI_COMM_SELF);
  auto const a = full<Tensor<float, Dim<I, W>, Dim<J>>>(mesh, {30, 7}, 2.0F);
  Plan const strict_plan = plan_at(op::Sum<I>{}, a);
  CHECK(strict_plan.flops() == 210);
  CHECK(strict_plan.peak_bytes() == 4 * 210 + 4 * 7 + 8 * 7);
  Plan const named_plan = plan_at(op::ArgMax<Dim<J>>{}, a);
  CHECK(named_plan.flops() == 210);
  CHECK(named_plan.block_bytes(named_plan.result, Slot::result) == 8 * 7);
  CHECK(item(beside_std::reduced(full<Tensor<float, Dim<I>, Dim<J>>>(mesh, {3, 7}, 2.0F))) == 6);
}

TEST_CASE("plans of reductions as text") {
  using Strict = Resolve<op::Sum<L>, A>;
  CHECK(text(plan(op::Sum<L>{}, type<A>), Strict::S::names) == R"(
B[M]{U:Y} = sum(A[L@Y, M])                                   0 collectives, 0 B/rank, peak 12.1 kB, 3 kFLOP/rank
  1  local            B[M]{U:Y} = sum                                3 kFLOP
)");
  using Named = Resolve<op::Sum<Dim<M>>, A>;
  CHECK(text(plan(op::Sum<Dim<M>>{}, type<A>), Named::S::names) == R"(
B[M] = sum(A[L@Y, M])                                        1 collective, 72 B/rank, peak 12.1 kB, 3 kFLOP/rank
  1  local            P[M]{U:Y} = sum                                3 kFLOP
  2  AllReduce Y      P[M]{U:Y} -> B[M]                              72 B
)");
  using Carried = Resolve<op::ArgMax<Dim<M, Y>>, A>;
  CHECK(text(plan(op::ArgMax<Dim<M, Y>>{}, type<A>), Carried::S::names) == R"(
B[M@Y] = argmax(A[L@Y, M])                                   1 collective, 144 B/rank, peak 12.4 kB, 3 kFLOP/rank
  1  local            P[M]{U:Y} = argmax                             3 kFLOP
  2  ReduceScatter Y  P[M]{U:Y} -> P[M@Y]                            144 B
  3  local            P[M@Y] -> B[M@Y]                               24 B
)");
}
