// Operations on blocks in automatic mode: each is compared with the strict operation on replicated
// tensors, with all shardings over two axes for operands and result, for divisible and other
// extents.
// TIMEOUT: 300
#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

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
struct K : Index<"K"> {};
struct L : Index<"L"> {};
struct V : Index<"V"> {};

using Int = std::int64_t;
using Grid = Mesh<X, Y>;

Int f(Int i, Int j) { return (i * 31 + j * 17 + 5) % 13 - 6; }
Int g(Int i, Int j) { return (i * 7 + j * 29 + 3) % 11 - 4; }

// Whether `a` has the values of `whole`, which has the same labels in the same order and is
// replicated.
template <class A, class Whole>
bool same(A const& a, Whole const& whole) {
  if (a.extents() != whole.extents()) return false;
  auto const have = to_host(a);
  auto const want = to_host(whole);
  return have == want;
}

// Evaluates `body(a, b)` on expressions of tensors with several shardings, to the sharding
// `Out...`, and compares it with `body` on replicated tensors.
template <class... Out, class Body>
void check(Grid const& mesh, std::array<Int, 2> n, Body body) {
  auto const whole_a = from_function<Int, Dim<I>, Dim<J>>(mesh, n, f);
  auto const whole_b = from_function<Int, Dim<I>, Dim<J>>(mesh, n, g);
  auto const want = body(whole_a, whole_b).tensor();
  INFO("extents " << n[0] << " " << n[1]);
  auto const from = [&](auto const& a, auto const& b) {
    CHECK(same(evaluate<Out...>(mesh, body(lazy(a), lazy(b))), want));
  };
  from(reshard<Dim<I, X>, Dim<J>>(whole_a), reshard<Dim<I, X>, Dim<J, Y>>(whole_b));
  from(reshard<Dim<I>, Dim<J, Y, X>>(whole_a), reshard<Dim<I>, Dim<J>>(whole_b));
}

}  // namespace

TEST_CASE("operations that keep the extents") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 2> const n : {std::array<Int, 2>{6, 8}, {5, 7}, {1, 3}, {0, 4}}) {
    check<Dim<I, X>, Dim<J, Y>>(mesh, n, [](auto a, auto b) { return flip<I>(a * 2) + b; });
    check<Dim<I>, Dim<J, X>>(mesh, n, [](auto a, auto b) { return roll<J>(a, 2) * flip<I>(b); });
    check<Dim<I, Y>, Dim<J>>(mesh, n, [](auto a, auto b) { return sort<J>(a + b); });
    check<Dim<I>, Dim<J, Y>>(mesh, n, [](auto a, auto b) { return argsort<I>(a) + b; });
    check<Dim<I, X>, Dim<J>>(mesh, n, [](auto a, auto b) { return cumsum<J>(a) - cumsum<I>(b); });
    check<Dim<I, Y>, Dim<J>>(mesh, n,
                             [](auto a, auto b) { return tril<I, J>(a, 1) + triu<I, J>(b); });
    check<Dim<I, Y, X>, Dim<J>>(mesh, n, [](auto a, auto b) { return shift<I>(a, 1) + b; });
    check<Dim<J, Y>, Dim<I>>(
        mesh, n, [](auto a, auto b) { return transpose<J, I>(flip<I>(transpose<J, I>(a))) * b; });
  }
}

TEST_CASE("operations that change extents") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 2> const n : {std::array<Int, 2>{6, 8}, {5, 7}, {1, 3}}) {
    Int const cut = n[1] - 1;
    check<Dim<I, X>, Dim<J, Y>>(
        mesh, n, [=](auto a, auto b) { return slice<J>(a * 2, 1, n[1]) + slice<J>(b, 0, cut); });
    // three extents of one index
    check<Dim<I>, Dim<J, X>>(
        mesh, n, [=](auto a, auto b) { return pad<J>(slice<J>(a + b, 0, cut), 0, 1) * b; });
    check<Dim<I, Y>, Dim<J>>(
        mesh, n, [=](auto a, auto b) { return concat<I>(slice<I>(a, 0, 1), b * 2, flip<I>(a)); });
    check<Dim<I, Y>, Dim<J>>(mesh, n,
                             [](auto a, auto b) { return repeat<I>(a, 2) - tile<I>(b, 2); });
    check<Dim<L>, Dim<I, X>, Dim<J, Y>>(mesh, n, [](auto a, auto b) { return stack<L>(a, b * 3); });
    check<Dim<K, X>, Dim<J>>(mesh, n,
                             [](auto a, auto b) { return merge_dims<L, I, K>(stack<L>(a, b)); });
    check<Dim<L>, Dim<K>, Dim<J, Y>>(
        mesh, n, [=](auto a, auto) { return split_dim<I, L, K>(a, {n[0], 1}); });
    check<Dim<I>, Dim<J>, Dim<K, X>>(mesh, n,
                                     [](auto a, auto) { return one_hot<K, Int>(a + 6, 13); });
    check<Dim<I, X>, Dim<J>>(mesh, n, [](auto a, auto b) { return squeeze<L>(expand<L>(a) + b); });
    check<Dim<K, Y>, Dim<I>, Dim<J>>(mesh, n,
                                     [](auto a, auto b) { return broadcast<Dim<K>>(a + b, {4}); });
  }
}

TEST_CASE("lookups, and reductions of whole dims") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 2> const n : {std::array<Int, 2>{6, 8}, {5, 7}, {1, 3}}) {
    check<Dim<I, X>>(mesh, n, [](auto a, auto b) { return argmax<J>(a * b); });
    check<Dim<J, Y>>(mesh, n, [](auto a, auto b) { return argmin<I>(a) + sum<I>(b); });
    check<>(mesh, n, [](auto a, auto b) { return prod(a) * argmax(b); });
    check<Dim<I, X>, Dim<K>>(mesh, n, [=](auto a, auto b) {
      auto const table = relabel<J, V>(relabel<I, K>(a));  // [K, V]
      auto const ids = where(max<J>(b) > 0, 0, 1);         // [I]
      return transpose<I, K>(take<V>(table * 2, ids));
    });
    check<Dim<I>, Dim<J, X>>(mesh, n,
                             [](auto a, auto b) { return take_along<J>(a, argsort<J>(b)); });
    check<Dim<V, Y>, Dim<J>>(mesh, n,
                             [](auto a, auto b) { return scatter_add<V>(a + b, argmax<J>(b), 9); });
  }
}

TEST_CASE("the largest elements and their positions") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 2> const n : {std::array<Int, 2>{6, 8}, {5, 7}, {1, 3}, {4, 2}}) {
    Int const k = n[1] / 2;
    check<Dim<I, X>, Dim<K, Y>>(mesh, n,
                                [=](auto a, auto b) { return top_k<J, K>(a * 2 + b, k).values; });
    check<Dim<I>, Dim<K, X>>(mesh, n, [=](auto a, auto) { return top_k<J, K>(a, k).places; });
    check<Dim<I, Y>, Dim<J>>(mesh, n, [=](auto a, auto b) {
      auto const [values, places] = top_k<J>(a, k);
      return values * 100 + places + slice<J>(b, 0, k);
    });
    check<Dim<I>, Dim<J, Y>>(mesh, n, [](auto a, auto b) { return top_k<J>(a - b, 0).values; });
    check<Dim<J, X>, Dim<K>>(
        mesh, n, [=](auto a, auto b) { return top_k<I, K>(transpose<J, I>(a) + b, 1).places; });
    auto const a = from_function<Int, Dim<I, X>, Dim<J, Y>>(mesh, n, f);
    auto const whole = reshard<Dim<I>, Dim<J>>(a);
    using Values = Tensor<Int, Dim<I, X>, Dim<K>>;
    using Places = Tensor<Int, Dim<I>, Dim<K, Y>>;
    auto const [values, places] = evaluate<Outs<Values, Places>>(
        mesh,
        [=](auto const& x) {
          auto const found = top_k<J, K>(x, k);
          return std::tuple(found.values, found.places);
        },
        a);
    CHECK(array_equal(values, reshard<Dim<I, X>, Dim<K>>(top_k<J, K>(whole, k).values)));
    CHECK(array_equal(places, reshard<Dim<I>, Dim<K, Y>>(top_k<J, K>(whole, k).places)));
    CHECK(code_of([&] { evaluate<Dim<I>, Dim<J>>(mesh, top_k<J>(lazy(a), n[1] + 1).values); }) ==
          "E41");
    // rows that are whole are not sent
    auto const rows = reshard<Dim<I, X>, Dim<J>>(a);
    auto const free =
        planned(evaluate_to<Dim<I, X>, Dim<K>>, mesh, top_k<J, K>(lazy(rows) * 2, k).places);
    CHECK(free.plan.collectives() == 0);
    if (mesh.size_of<X>() > 1 && mesh.size_of<Y>() > 1 && n == std::array<Int, 2>{6, 8}) {
      auto const split =
          planned(evaluate_to<Dim<I, X>, Dim<K>>, mesh, top_k<J, K>(lazy(a), k).places);
      CHECK(split.plan.collectives() > 0);
    }
  }
}

TEST_CASE("softmax and variances, with their arguments") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 2> const n : {std::array<Int, 2>{6, 8}, {5, 7}, {1, 3}}) {
    auto const whole = from_function<double, Dim<I>, Dim<J>>(
        mesh, n, [](Int i, Int j) { return 0.25 * static_cast<double>(f(i, j)); });
    auto const a = reshard<Dim<I, X>, Dim<J, Y>>(whole);
    CHECK(same(evaluate<Dim<I>, Dim<J, X>>(mesh, softmax<J>(lazy(a) * 2)), softmax<J>(whole * 2)));
    CHECK(same(evaluate<Dim<I, Y>, Dim<J>>(mesh, log_softmax<I>(lazy(a)) + 1),
               (log_softmax<I>(whole) + 1).tensor()));
    CHECK(same(evaluate<Dim<I, X>, Dim<J>>(mesh, softmax<I, J>(lazy(a))), softmax<I, J>(whole)));
    CHECK(same(evaluate<Dim<I>, Dim<J>>(mesh, softmax<J, Dim<I, X>, Dim<J, Y>>(lazy(a)) * 2),
               (softmax<J>(whole) * 2).tensor()));
    if (n[0] == 1) continue;  // no variance
    CHECK(same(evaluate<Dim<J, X>>(mesh, var<I>(lazy(a), 1) + stddev<I>(lazy(a), 0.5)),
               (var<I>(whole, 1) + stddev<I>(whole, 0.5)).tensor()));
    CHECK(same(evaluate<Dim<I>>(mesh, var<Dim<I, X>>(lazy(a), 1) * 2),
               (var<J>(whole, 1) * 2).tensor()));
  }
}

TEST_CASE(
    "a sum that is not reduced yet passes through what is linear, a maximum through a maximum") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const whole_a = from_function<Int, Dim<I>, Dim<J>>(mesh, {6, 8}, f);
  auto const whole_b = from_function<Int, Dim<I>, Dim<J>>(mesh, {6, 8}, g);
  auto const a = reshard<Dim<I>, Dim<J, Y>>(whole_a);
  auto const b = reshard<Dim<I>, Dim<J, Y>>(whole_b);
  auto const sums = sum<J>(a);
  auto const other = sum<J>(b);
  auto const most = max<J>(a);
  auto const largest = max<J>(b);
  CHECK(same(evaluate<Dim<I>>(mesh, max(lazy(sums), other)),
             max(sum<J>(whole_a), sum<J>(whole_b)).tensor()));
  CHECK(same(evaluate<Dim<I>>(mesh, lazy(sums) + other),
             (sum<J>(whole_a) + sum<J>(whole_b)).tensor()));
  CHECK(same(evaluate<Dim<I>>(mesh, lazy(most) + largest),
             (max<J>(whole_a) + max<J>(whole_b)).tensor()));
  CHECK(same(evaluate<Dim<I>>(mesh, -lazy(most)), (-max<J>(whole_a)).tensor()));
  CHECK(same(evaluate<Dim<I>>(mesh, min(lazy(most), largest)),
             min(max<J>(whole_a), max<J>(whole_b)).tensor()));
  CHECK(same(evaluate<Dim<I>>(mesh, max(lazy(most), largest)),
             max(max<J>(whole_a), max<J>(whole_b)).tensor()));
  // a maximum of maxima is reduced once
  auto const p = planned(evaluate_to<Dim<I>>, mesh, max(lazy(most), largest)).plan;
  CHECK(p.collectives() == 1);
}

TEST_CASE("a named result is made in its sharding") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const whole = from_function<Int, Dim<I>, Dim<J>>(mesh, {6, 8}, f);
  auto const a = reshard<Dim<I, X>, Dim<J, Y>>(whole);
  op::Named<op::Flip<J>, Dim<I, Y>, Dim<J>> const flipped{};
  CHECK(same(evaluate<Dim<I>, Dim<J, X>>(
                 mesh, call(flipped, std::source_location::current(), lazy(a)) * 2),
             (flip<J>(whole) * 2).tensor()));
  CHECK(same(evaluate<Dim<I>, Dim<J>, Dim<K, X>>(
                 mesh, one_hot<K, Tensor<Int, Dim<I>, Dim<J, X>, Dim<K>>>(lazy(a) + 6, 13) * 2),
             (one_hot<K, Int>(whole + 6, 13) * 2).tensor()));
  CHECK(same(evaluate<Dim<I>>(mesh, argmax<Dim<I, X>>(lazy(a)) + 1),
             (argmax<J>(whole) + 1).tensor()));
  // its dims in another order
  CHECK(same(evaluate<Dim<J>, Dim<I>>(mesh, prod<Dim<J, X>, Dim<I>>(stack<L>(lazy(a), a)) + 1),
             (transpose<J, I>(whole * whole) + 1).tensor()));
  // axes of new dims are the planner's, and a pad has the elements of the expression
  CHECK(same(evaluate<Dim<K>, Dim<I>, Dim<J>>(
                 mesh, broadcast<Dim<K, X>>(pad<J>(lazy(a), 0, 1, (Int{1} << 60) + 1), {3}) + 0),
             broadcast<Dim<K>>(pad<J>(whole, 0, 1, (Int{1} << 60) + 1), {3})));
  CHECK(same(
      evaluate<Dim<K>, Dim<L>, Dim<J>>(mesh, split_dim<I, Dim<K, X>, Dim<L>>(lazy(a), {2, 3}) * 1),
      split_dim<I, K, L>(whole, {2, 3})));
}

// A user-defined operation: each row minus its largest element.
template <class Along>
struct FromLargest {
  using operation = FromLargest;
  using from = Mentions<Dim<Along>>;
  static constexpr std::string_view name = "from_largest";
  Int weight = 1;
  static constexpr rules::Verdict rule(rules::Question const& q) { return rules::flip(q); }
  template <class Exec, class Out, class In>
  void kernel(Exec const&, Out const& out, In const& in) const {
    for (std::size_t i = 0; i < in.extent(0); ++i) {
      Int most = in.extent(1) == 0 ? 0 : in(i, 0);
      for (std::size_t j = 0; j < in.extent(1); ++j) most = std::max<Int>(most, in(i, j));
      for (std::size_t j = 0; j < in.extent(1); ++j) out(i, j) = weight * (in(i, j) - most);
    }
  }
};

TEST_CASE("a user's own operation") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 2> const n : {std::array<Int, 2>{6, 8}, {5, 7}, {0, 3}})
    check<Dim<I, X>, Dim<J, Y>>(mesh, n, [](auto a, auto b) {
      return call(FromLargest<J>{3}, std::source_location::current(), a + b) * 2;
    });
}

TEST_CASE("extents that do not fit are said") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<Int, Dim<I, X>, Dim<J>>(mesh, {6, 8}, f);
  CHECK(code_of([&] { evaluate<Dim<I>, Dim<J>>(mesh, slice<J>(lazy(a), 0, 3) + lazy(a)); }) ==
        "E24");
  CHECK(code_of([&] { evaluate<Dim<I>, Dim<J>>(mesh, slice<J>(lazy(a), 0, 9)); }) == "E41");
  CHECK(code_of([&] {
          evaluate<Dim<I>, Dim<J>>(mesh, concat<I>(lazy(a), slice<J>(lazy(a), 0, 3)));
        }) == "E24");
}

TEST_CASE("plans know operations") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<Int, Dim<I, X>, Dim<J>>(mesh, {64, 80}, f);
  auto const p = planned(evaluate_to<Dim<I, X>, Dim<J>>, mesh, sort<J>(lazy(a)));
  CHECK(p.plan.collectives() == 0);  // I may stay split
  CHECK(explain(p).find("sort(") != std::string::npos);
  auto const q = planned(evaluate_to<Dim<I>, Dim<J, X>>, mesh, sort<I>(lazy(a)));
  CHECK(q.plan.count(Collective::all_to_all) == 1);
  using A = Tensor<Int, Dim<I, X>, Dim<J>>;
  auto const dry = dry_run<A>([](auto x) { return evaluate<Dim<I>, Dim<J, X>>(sort<I>(x)); })
                       .extent<I>(64)
                       .extent<J>(80)
                       .ranks<X>(4)
                       .planned();
  CHECK(dry.plan.count(Collective::all_to_all) == 1);
  CHECK(code_of([&] {
          dry_run<A>([](auto x) { return evaluate<Dim<I>, Dim<J, X>>(slice<I>(x, 0, 3)); })
              .extent<I>(64)
              .extent<J>(80)
              .ranks<X>(4)
              .planned();
        }) == "E71");
}

// If the types have all sizes, the compiler finds the plan.
struct P2 : Axis<"P2", 2> {};
struct R : Index<"R", 64> {};
struct C : Index<"C", 32> {};
using Known = Tensor<float, Dim<R, P2>, Dim<C>>;
constexpr auto known = plan_traced<Known>(
    [](auto a) { return evaluate<Dim<R>, Dim<C, P2>>(cumsum<R>(flip<C>(a) * 2.0F)); });
static_assert(known.possible && known.collectives() == 1);
static_assert(known.count(Collective::all_to_all) == 1);
