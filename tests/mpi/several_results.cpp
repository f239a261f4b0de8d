// Operations with several results: a user's own, which counts how often it runs, strict, on blocks,
// without data, recorded and with a gradient.
// TIMEOUT: 300
#include <array>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

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

using Int = std::int64_t;

int runs = 0;

// Of each row [I, J] the differences [I, K] of elements that are `apart`, and the row's sum [I], as
// a double.
template <class J, class K, Int apart>
struct Differences {
  using operation = Differences;
  using from = Mentions<Dim<J>>;
  using to = Mentions<Dim<K>>;
  static constexpr std::string_view name = "differences";

  static constexpr op::Verdicts<2> rule(op::Question const& q) {
    op::Verdict const v = rules::resized(q);
    core::Spec sums = q.a();
    sums.rank = 0;
    for (int d = 0; d < q.a().rank; ++d)
      if (q.a().dims[d].label != q.along()) sums.add(q.a().dims[d].label, q.a().dims[d].axes);
    return {v, rules::accept_if(v, sums)};
  }
  template <class A>
  using element = op::Elements<checking::element_t<A>, double>;
  constexpr void extents(ResultExtents const& differences, ResultExtents const&) const {
    if (differences.extent() < apart)
      ResultExtents::fail("differences: index " + differences.name() + " is too short");
    differences.set(differences.extent() - apart);
  }
  template <class Exec, class D, class S, class In>
  void kernel(Exec const&, D const& differences, S const& sums, In const& in) const {
    ++runs;
    for (std::size_t i = 0; i < in.extent(0); ++i) {
      sums(i) = 0;
      for (std::size_t j = 0; j < in.extent(1); ++j) sums(i) += static_cast<double>(in(i, j));
      for (std::size_t k = 0; k < differences.extent(1); ++k)
        differences(i, k) = in(i, k + static_cast<std::size_t>(apart)) - in(i, k);
    }
  }
};
template <Int apart, class A>
constexpr auto differences(A const& a) {
  return call(Differences<J, K, apart>{}, std::source_location::current(), a);
}

Int value(Int i, Int j) { return (i * 31 + j * j * 17 + 5) % 13 - 6; }
Int difference(Int i, Int k, Int apart) { return value(i, k + apart) - value(i, k); }
double sum_of(Int i, Int n) {
  Int sum = 0;
  for (Int j = 0; j < n; ++j) sum += value(i, j);
  return static_cast<double>(sum);
}

// Whether both results have the right elements.
template <class D, class S>
bool right(D const& differences, S const& sums, std::array<Int, 2> const& n, Int apart) {
  bool good = differences.extents() == std::array<Int, 2>{n[0], n[1] - apart} &&
              sums.extents() == std::array<Int, 1>{n[0]};
  auto const d = to_host(differences);
  auto const s = to_host(sums);
  for (Int i = 0; good && i < n[0]; ++i) {
    good = s[static_cast<std::size_t>(i)] == sum_of(i, n[1]);
    for (Int k = 0; good && k < n[1] - apart; ++k)
      good = d[static_cast<std::size_t>(i * (n[1] - apart) + k)] == difference(i, k, apart);
  }
  return good;
}

using Split = Tensor<Int, Dim<I, X>, Dim<J>>;
using Found = decltype(differences<1>(std::declval<Split>()));
static_assert(
    std::is_same_v<Found, std::tuple<Tensor<Int, Dim<I, X>, Dim<K>>, Tensor<double, Dim<I, X>>>>);

// Without data: types, extents and plans, at compile time.
struct Axis4 : Axis<"X", 4> {};
struct Rows : Index<"I", 10> {};
struct Columns : Index<"J", 6> {};
using Fixed = Tensor<Int, Dim<Rows, Axis4>, Dim<Columns>>;
constexpr Int second_extent() {
  Int n = 0;
  static_cast<void>(plan(
      [&](auto const& a) {
        auto const both = call(Differences<Columns, K, 2>{}, std::source_location::current(), a);
        n = std::get<0>(both).extents()[1] * 100 + std::get<1>(both).extents()[0];
        return std::get<1>(both);
      },
      type<Fixed>));
  return n;
}
static_assert(second_extent() == 410);
constexpr auto planned_both = plan(
    [](auto const& a) {
      return std::get<1>(call(Differences<Columns, K, 2>{}, std::source_location::current(), a));
    },
    type<Fixed>);
static_assert(planned_both.collectives() == 0);
// while it runs there are 3 x 6 numbers, 3 x 4 differences and 3 sums
static_assert(planned_both.peak_bytes() == 8 * (18 + 12 + 3));

TEST_CASE("an operation with two results: strict, and on blocks") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (std::array<Int, 2> const n : {std::array<Int, 2>{6, 8}, {5, 7}, {1, 3}, {24, 5}}) {
    auto const a = from_function<Int, Dim<I, X, Y>, Dim<J>>(mesh, n, value);
    auto const [d, s] = differences<2>(a);
    CHECK(right(d, s, n, 2));
    if (n[0] != 24) continue;
    auto const sums = shard_map<Tensor<double, Dim<I, X, Y>>>(
        [](auto const& block) { return std::get<1>(differences<2>(block)); }, a);
    CHECK(array_equal(sums, s));
  }
  auto const small = from_function<Int, Dim<I, X>, Dim<J>>(mesh, {4, 2}, value);
  CHECK(code_of([&] { static_cast<void>(differences<3>(small)); }) == "E41");
}

TEST_CASE("the results of a recorded operation, which runs once where they have one layout") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  using D = Tensor<Int, Dim<I, X>, Dim<K>>;
  using S = Tensor<double, Dim<I, X>>;
  for (std::array<Int, 2> const n : {std::array<Int, 2>{6, 8}, {5, 7}, {1, 3}, {0, 2}}) {
    auto const a = from_function<Int, Dim<I, X>, Dim<J>>(mesh, n, value);
    auto const [d, s] = differences<2>(lazy(a));
    runs = 0;
    auto const [first, second] = evaluate<Outs<D, S>>(mesh, std::tuple(d, s));
    CHECK(runs == 1);
    CHECK(right(first, second, n, 2));
    runs = 0;
    auto const [third, fourth] = evaluate<Outs<S, D>>(mesh, std::tuple(s, d));
    CHECK(runs == 1);
    CHECK(right(fourth, third, n, 2));
    // in other shardings, and of an operand that is moved
    auto const split = reshard<Dim<I, Y>, Dim<J, X>>(a);
    auto const [e, t] = differences<2>(lazy(split));
    CHECK(right(evaluate<Dim<I>, Dim<K, Y>>(mesh, e), evaluate<Dim<I, Y>>(mesh, t), n, 2));
    auto const both = evaluate<Dim<I, X>>(mesh, cast<double>(sum<K>(e)) + t);
    CHECK(array_equal(both, (cast<double>(sum<K>(first)) + second).tensor()));
    // two operations of one type are two
    auto const b = (a * 2).tensor();
    auto const twice = differences<2>(lazy(b));
    runs = 0;
    auto const [x, y] = evaluate<Outs<D, S>>(mesh, std::tuple(std::get<0>(twice), s));
    CHECK(runs == 2);
    CHECK(array_equal(x, (first * 2).tensor()));
    CHECK(array_equal(y, second));
  }
  auto const small = from_function<Int, Dim<I, X>, Dim<J>>(mesh, {4, 2}, value);
  CHECK(code_of([&] {
          static_cast<void>(evaluate<Dim<I>>(mesh, std::get<1>(differences<3>(lazy(small)))));
        }) == "E41");
}

TEST_CASE("in a function that is evaluated it is planned once, for any shardings of its results") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  std::array<Int, 2> const n{5, 7};
  auto const a = from_function<Int, Dim<I, X>, Dim<J, Y>>(mesh, n, value);
  using D = Tensor<Int, Dim<I>, Dim<K>>;
  using S = Tensor<double, Dim<I, Y>>;
  runs = 0;
  auto const [d, s] =
      evaluate<Outs<D, S>>(mesh, [](auto const& x) { return differences<1>(x); }, a);
  CHECK(runs == 1);
  CHECK(right(d, s, n, 1));
  // a constraint of the first result is not one of the operation
  runs = 0;
  auto const [e, t] = evaluate<Outs<D, S>>(
      mesh,
      [](auto const& x) {
        auto const both = differences<1>(x);
        return std::tuple(constrain<Dim<I>, Dim<K, X>>(std::get<0>(both)), std::get<1>(both));
      },
      a);
  CHECK(runs == 1);
  CHECK(right(e, t, n, 1));
}

TEST_CASE("the plan of a recorded operation has its results") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<Int, Dim<I, X>, Dim<J>>(mesh, {6, 8}, value);
  auto const text =
      explain(planned(evaluate_to<Dim<I, X>>, mesh, std::get<1>(differences<1>(lazy(a)))));
  CHECK(text.find("T1[I@X, K] = differences(A[I@X, J])") != std::string::npos);
  CHECK(text.find("T2[I@X] = second(T1[I@X, K])") != std::string::npos);
}

TEST_CASE("the cotangent of values alone: places have none") {
  auto const mesh = Mesh<X>(MPI_COMM_WORLD);
  auto const a = from_function<float, Dim<I, X>, Dim<J>>(mesh, {5, 7}, [](Int i, Int j) {
    return static_cast<float>(value(i, j)) + 0.125F * static_cast<float>(j);
  });
  auto const of = [](auto x) { return all_reduce<X>(sum(exp(top_k<J, K>(x, 3).values))); };
  auto const by_lookup = [](auto x) {
    auto const places = top_k<J, K>(x.value(), 3).places;
    return all_reduce<X>(sum(exp(take_along<J, K>(x, places))));
  };
  CHECK(array_equal(grad(of)(a), grad(by_lookup)(a)));
}

// The square of each number and three times it, whose gradient is a member too.
struct Powers {
  using operation = Powers;
  using gradient = checking::PullsBySaved;
  static constexpr std::string_view name = "powers";
  static constexpr op::Verdicts<2> rule(op::Question const& q) {
    return {rules::accept(q.a()), rules::accept(q.a())};
  }
  template <class A>
  using element = op::Elements<checking::element_t<A>, checking::element_t<A>>;
  template <class Exec, class S, class T, class In>
  void kernel(Exec const&, S const& square, T const& thrice, In const& in) const {
    for (std::size_t i = 0; i < in.extent(0); ++i)
      for (std::size_t j = 0; j < in.extent(1); ++j) {
        square(i, j) = in(i, j) * in(i, j);
        thrice(i, j) = in(i, j) * 3;
      }
  }
  template <std::size_t Result, class V, class A>
  constexpr auto save(V const&, A const& a) const {
    if constexpr (Result == 0) {
      return autodiff::keep(a);
    } else {
      return autodiff::keep();
    }
  }
  template <class G>
  constexpr auto pull(G const& g) const {
    if constexpr (G::result == 0) {
      return (g.ct * g.template kept<0>() * 2).tensor();
    } else {
      return (g.ct * 3).tensor();
    }
  }
};
static_assert(Operation<Powers> && Operation<Differences<J, K, 1>>);

TEST_CASE("an operation's own gradient, of each of its results") {
  auto const mesh = Mesh<X>(MPI_COMM_WORLD);
  auto const a = from_function<double, Dim<I, X>, Dim<J>>(
      mesh, {24, 7}, [](Int i, Int j) { return 0.25 * static_cast<double>(value(i, j)); });
  auto const by_members = [](auto x) {
    auto const [square, thrice] = call(Powers{}, std::source_location::current(), x);
    return all_reduce<X>(sum(square * exp(thrice)));
  };
  auto const by_functions = [](auto x) { return all_reduce<X>(sum(x * x * exp(x * 3.0))); };
  CHECK(allclose(grad(by_members)(a), grad(by_functions)(a)));
  auto const blocks = shard_map<Dim<I, X>, Dim<J>>(
      [&](auto x) {
        return grad([](auto y) {
          return sum(std::get<0>(call(Powers{}, std::source_location::current(), y)));
        })(x);
      },
      a);
  CHECK(array_equal(blocks, (a * 2).tensor()));
  // the gradient of the gradient is that of its text
  auto const twice = grad([](auto x) {
    auto const g = grad([](auto y) {
      return sum(std::get<0>(call(Powers{}, std::source_location::current(), y)));
    })(x);
    return sum(g * g);
  });
  auto const whole = from_function<double, Dim<I>, Dim<J>>(
      mesh, {5, 7}, [](Int i, Int j) { return 0.25 * static_cast<double>(value(i, j)); });
  CHECK(array_equal(twice(whole), (whole * 8).tensor()));
}

}  // namespace
