// Extents that no tensor can have: an Error before any planning, communication or allocation. Plans
// near the limit avoid values that are too large. Steps that no executor can run are refused, too.
// RANKS: 1 2 4
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include <shardtype/shardtype.hpp>

#include "harness/call_text.hpp"
#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using namespace shardtype::automatic_mode;

namespace {

using Int = std::int64_t;
constexpr Int power(int n) { return Int{1} << n; }

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct X8 : Axis<"X8", 8> {};
struct Y4 : Axis<"Y4", 4> {};
struct X4 : Axis<"X4", 4> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
struct One : Index<"One", 1> {};
struct Last : Index<"Last", 1> {};

// Chains whose first product is an outer one: with 2^56 elements, and with more than a tensor can
// have.
template <Int N, class P, class Q>
struct Chain {
  struct I : Index<"I", N> {};
  struct K : Index<"K", N> {};
  using A = Tensor<float, Dim<I, P>, Dim<One>>;
  using B = Tensor<float, Dim<One, Q>, Dim<K>>;
  using C = Tensor<float, Dim<K>, Dim<Last, P>>;
  static constexpr ProgramPlan plan = plan_traced<Axes<P, Q>, A, B, C>(
      [](auto a, auto b, auto c) { return evaluate<Dim<I, P>, Dim<Last>>(a * b * c); });
  static constexpr Int most_elements() {
    Int most = 0;
    for (ProgramStep const& s : plan) {
      Int n = 1;
      ProgramNode const& value = plan.program.nodes[s.node];
      for (int d = 0; d < value.rank; ++d) n = mul_sat(n, plan.program.extents[value.labels[d]]);
      most = n > most ? n : most;
    }
    return most;
  }
};
template <class C>
constexpr bool reasonable = C::plan.possible && C::most_elements() == C::I::extent &&
                            C::plan.seconds() > 0 &&
                            C::plan.seconds() < 10 && C::plan.bytes_per_rank() > 0 &&
                            C::plan.peak_bytes() > 0 && C::plan.flops() > 0;
static_assert(reasonable<Chain<power(28), X8, Y4>>);
static_assert(reasonable<Chain<power(31), X4, Y4>>);

// An outer product that is the result itself has a plan.
using Outer = Chain<power(28), X8, Y4>;
constexpr ProgramPlan outer = plan_traced<Axes<X8, Y4>, Outer::A, Outer::B>(
    [](auto a, auto b) { return evaluate<Dim<Outer::I, X8>, Dim<Outer::K, Y4>>(a * b); });
static_assert(outer.possible && outer.bytes_per_rank() < power(31) && outer.seconds() > 0);

std::string text_of(auto run) {
  try {
    run();
  } catch (Error const& e) {
    CHECK(e.where() == FailedOn::every_rank);
    return e.what();
  }
  return "none";
}
// The same of a call of `operation`, whose line the text ends with.
std::string text_of(std::string const& operation, auto run) {
  return harness::before_call(text_of(run), operation, "sizes.cpp");
}
std::string const too_many = "[shardtype E20] the extents are more than 2^58 elements together";

Step step(Move move) {
  Step s;
  s.move = move;
  s.axes.push(0);
  s.before.add(0);
  s.after.add(0);
  return s;
}

}  // namespace

TEST_CASE("extents of more than 2^58 elements") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  CHECK(text_of([&] { zeros<float, Dim<I, X>>(mesh, {power(58) + 1}); }) == too_many);
  CHECK(text_of([&] { zeros<float, Dim<I, X>, Dim<J>>(mesh, {power(30), power(30)}); }) ==
        too_many);
  // an empty tensor with an extent that overflows with any other
  CHECK(text_of([&] { zeros<float, Dim<I, X>, Dim<J>>(mesh, {power(62), 0}); }) == too_many);
  CHECK(text_of([&] { zeros<float, Dim<I>, Dim<J, X>>(mesh, {0, power(62)}); }) == too_many);
  CHECK(text_of([&] { from_host<float, Dim<I, X>, Dim<J>>(mesh, {power(40), power(40)}, {}); }) ==
        too_many);
  CHECK(zeros<float, Dim<I, X>, Dim<J>>(mesh, {power(58), 0}).local_size() == 0);
}

TEST_CASE("a result of more than 2^58 elements") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = zeros<float, Dim<I, X>, Dim<J>>(mesh, {power(30), 0});
  auto const b = zeros<float, Dim<J>, Dim<K, Y>>(mesh, {0, power(30)});
  std::string const text = "[shardtype E20] the result would have more than 2^58 elements";
  for (int k = 0; k < 2; ++k) {  // the second call gives the same error
    CHECK(text_of("matmul", [&] { matmul(a, b); }) == text);
    CHECK(text_of("matmul", [&] { matmul<Dim<I>, Dim<K, X>>(a, b); }) == text);
    CHECK(text_of("einsum", [&] { einsum<K, I>(a, b); }) == text);
  }
  CHECK(text_of("broadcast", [&] { broadcast<Dim<K>>(a, {power(40)}); }) == too_many);
}

TEST_CASE("values of an expression of more than 2^58 elements") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = zeros<float, Dim<I, X>, Dim<J>>(mesh, {power(30), 0});
  auto const b = zeros<float, Dim<J>, Dim<K, Y>>(mesh, {0, power(30)});
  auto const c = zeros<float, Dim<K, Y>, Dim<L>>(mesh, {power(30), 0});
  std::string const text =
      "[shardtype E20] the expression needs a value of more than 2^58 elements";
  for (int k = 0; k < 2; ++k) {
    CHECK(text_of("evaluate", [&] { evaluate<Dim<I, X>, Dim<K>>(mesh, lazy(a) * lazy(b)); }) ==
          text);
    CHECK(text_of("evaluate", [&] { evaluate<Dim<I, X>>(mesh, sum<K>(exp(lazy(a) * lazy(b)))); }) ==
          text);
  }
  // the other order needs no such value
  auto const e = lazy(a) * lazy(b) * lazy(c);
  CHECK(evaluate<Dim<I, X>, Dim<L>>(mesh, e).local_size() == 0);
  CHECK(text_of([&] { (void)planned(evaluate_to<Dim<I>, Dim<K>>, mesh, lazy(a) * lazy(b)); }) ==
        text);
  auto dry = dry_run<std::remove_const_t<decltype(a)>, std::remove_const_t<decltype(b)>>(
      [](auto p, auto q) { return evaluate<Dim<I, X>, Dim<K>>(p * q); });
  dry.extent<I>(power(30)).extent<J>(1).extent<K>(power(30)).ranks<X>(4).ranks<Y>(2);
  CHECK(text_of([&] { (void)dry.planned(); }) == text);
}

TEST_CASE("a step that nothing runs") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Sizing z;
  z.extents.at[0] = 5;
  Names const& names = Scope<Mentions<Dim<I, X>>>::names;
  AxisMap const axes = map_axes(mesh.state(), names);
  z.sizes = axes.sizes;
  auto const a = zeros<bool, Dim<I>>(mesh, {5});
  auto const run = [&](Step const& s, Exchange* later) {
    Plan plan;
    plan.sizing = z;
    plan.push(s);
    execute::Executor<bool, Kokkos::HostSpace> executor(mesh.state(), axes, z,
                                                        std::source_location::current());
    auto const v = execute::whole_value<bool>(s.before, z, axes.coords, a.buffer());
    static_cast<void>(executor.run(plan, v, later));
  };
  auto const refused_step = [](std::string const& what) {
    return "[shardtype E42] a plan has a step that is not run: " + what;
  };
  Exchange later;
  for (Exchange* how : {static_cast<Exchange*>(nullptr), &later}) {
    CHECK(text_of([&] { run(step(Move::broadcast), how); }) == refused_step("broadcast"));
    CHECK(text_of([&] { run(step(Move::broadcast_rows), how); }) == refused_step("broadcast"));
    CHECK(text_of([&] { run(step(Move::to_columns), how); }) == refused_step("all_to_all"));
    // a step that does not say from whom, and one that only windows run
    CHECK(text_of([&] { run(step(Move::send_block), how); }) == refused_step("permute"));
    CHECK(text_of([&] { run(step(Move::send_rows), how); }) == refused_step("all_to_all"));
    CHECK(text_of([&] { run(step(Move::window), how); }) == refused_step("neighbor exchange"));
    CHECK(text_of([&] { run(step(Move::compute), how); }) ==
          refused_step("a product of elements that are not multiplied"));
  }
}
