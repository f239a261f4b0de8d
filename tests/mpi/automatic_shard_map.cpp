// shard_map and reshard in automatic mode, compared with strict mode, from and to all kinds of
// shardings.
#include <array>
#include <cstdint>
#include <string>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;
using on_ranks::code_of;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K", 3> {};

using Int = std::int64_t;

Int f(Int i, Int j) { return (i * 31 + j * 17 + 5) % 13 - 6; }
Int g(Int i, Int j) { return (i * 7 + j * 29 + 3) % 11 - 4; }

// The sum over J of blocks of I; the function itself reduces it over Y.
constexpr auto row_sums = [](auto a) { return all_reduce<Y>(sum<J>(a)); };
// What the plan of a program leaves out: the collectives of a function of blocks.
static_assert(plan(row_sums, type<Local<Int, Dim<I>, Dim<J>, Varying<X, Y>>>)
                  .count(Collective::all_reduce) == 1);
static_assert(plan(row_sums, type<Local<Int, Dim<I>, Dim<J>, Varying<X, Y>>>).collectives() == 1);

}  // namespace

TEST_CASE("shard_map stands in a program as it stands in strict mode") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const ranks = on_ranks::rank_total();
  for (Int const n : {ranks, 3 * ranks}) {
    auto const a = from_function<Int, Dim<I, X>, Dim<J, Y>>(mesh, {n, 2 * n}, f);
    auto const b = from_function<Int, Dim<I>, Dim<J>>(mesh, {n, 2 * n}, g);
    auto const whole_a = reshard<Dim<I>, Dim<J>>(a);
    auto const want = to_host(sum<J>(whole_a * 2 + b).tensor());

    // of a tensor in its own sharding
    auto const direct = evaluate<Dim<I>>(mesh, shard_map<Dim<I, X>>(row_sums, lazy(a)) * 1);
    CHECK(to_host(direct) == to_host(sum<J>(whole_a)));

    // of an expression, which is resharded to the constraint; the result has further readers
    auto const e = constrain<Dim<I, X>, Dim<J, Y>>(lazy(a) * 2 + b);
    auto const sums = shard_map<Dim<I, X>>(row_sums, e);
    CHECK(to_host(evaluate<Dim<I, Y, X>>(mesh, sums)) == want);
    CHECK(to_host(evaluate<Dim<I>>(mesh, sums)) == want);

    // dims in another order, two arguments, one shard_map of another
    auto const turned = constrain<Dim<J, X>, Dim<I>>(transpose<J, I>(lazy(a)));
    auto const both = shard_map<Dim<J, X>, Dim<I>>([](auto s, auto t) { return s - t; }, turned,
                                                   constrain<Dim<J, X>, Dim<I>>(lazy(b)));
    auto const again = shard_map<Dim<J, X>, Dim<I>>([](auto s) { return s * 3; }, both);
    CHECK(to_host(evaluate<Dim<I, X>, Dim<J>>(mesh, again)) ==
          to_host(((whole_a - b) * 3).tensor()));

    // unreduced: the planner reduces the function's result
    auto const partial =
        shard_map<Dim<I, X>, Unreduced<Y>>([](auto s) { return unreduced<Y>(sum<J>(s)); }, e);
    CHECK(to_host(evaluate<Dim<I, X>>(mesh, partial)) == want);
    CHECK(to_host(evaluate<Dim<I, X>>(mesh, partial * 2 + partial)) ==
          to_host((sum<J>(whole_a * 2 + b) * 3).tensor()));
  }
}

TEST_CASE("an index of its own has a static extent") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const n = 2 * on_ranks::rank_total();
  auto const a = from_function<Int, Dim<I, X>, Dim<J>>(mesh, {n, 3}, f);
  auto const renamed =
      shard_map<Dim<I, X>, Dim<K>>([](auto s) { return relabel<J, K>(s); }, lazy(a));
  auto const r = evaluate<Dim<K>>(mesh, sum<I>(renamed));
  CHECK(to_host(r) == to_host(reshard<Dim<J>>(sum<I>(a))));
}

TEST_CASE("what a function of blocks gives is held to the program's extents") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const n = 2 * on_ranks::rank_total();
  auto const a = from_function<Int, Dim<I, X>, Dim<J>>(mesh, {n, 3}, f);
  auto const half = shard_map<Dim<I, X>, Dim<J>>([](auto s) { return slice<J>(s, 0, 1); }, lazy(a));
  CHECK(code_of([&] { return evaluate<Dim<I>, Dim<J>>(mesh, half); }) == "E24");
  if (on_ranks::rank_total() > 1) {
    auto const odd = from_function<Int, Dim<I>, Dim<J>>(mesh, {n + 1, 3}, f);
    auto const e = shard_map<Dim<I, X, Y>, Dim<J>>([](auto s) { return s * 2; },
                                                   constrain<Dim<I, X, Y>, Dim<J>>(lazy(odd)));
    CHECK(code_of([&] { return evaluate<Dim<I>, Dim<J>>(mesh, e); }) == "E61");
  }
}

TEST_CASE("reshard of an expression constrains it") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<Int, Dim<I, X>, Dim<J>>(mesh, {5, 7}, f);
  auto const e = reshard<Dim<I>, Dim<J, X>>(lazy(a) * 2) + 1;
  CHECK(to_host(evaluate<Dim<I, Y>, Dim<J>>(mesh, e)) ==
        to_host((reshard<Dim<I>, Dim<J>>(a) * 2 + 1).tensor()));
}

TEST_CASE("plans name it") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  Int const n = 2 * on_ranks::rank_total();
  auto const a = from_function<Int, Dim<I, X>, Dim<J, Y>>(mesh, {n, n}, f);
  auto const e = shard_map<Dim<I, X>>(row_sums, lazy(a)) * 2;
  auto const plan = planned(evaluate_to<Dim<I>>, mesh, e);
  CHECK(explain(plan).find("shard_map(") != std::string::npos);
  CHECK(to_json(plan).find("shard_map") != std::string::npos);
}

// From types alone: the plan is a constant.
struct P : Axis<"P", 4> {};
struct A8 : Index<"A", 8> {};
struct B8 : Index<"B", 8> {};
constexpr auto program =
    plan_traced<automatic_mode::Axes<P>, Tensor<float, Dim<A8, P>, Dim<B8>>>([](auto a) {
      return evaluate<Dim<A8>>(shard_map<Dim<A8, P>>([](auto s) { return sum<B8>(s); }, a));
    });
static_assert(program.possible && program.collectives() == 1);
