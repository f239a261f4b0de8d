// bincount, histogram and searchsorted, compared with counts and searches on one rank: uneven and
// empty blocks, values out of range, NaN; strict, named, automatic mode, manual mode.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct V : Index<"V"> {};
struct V4 : Index<"V4", 4> {};

using Int = std::int64_t;
using on_ranks::code_of;

// Ids, some of them outside.
template <class T>
T id(Int i, Int j) {
  return static_cast<T>((i * 7 + j * 3) % 13 - 2);
}
// Numbers from -2 to 2, among them the edges of bins; NaN and infinities.
template <class T>
T number(Int i, Int j) {
  Int const k = (i * 5 + j * 11) % 37;
  if constexpr (std::is_floating_point_v<T>) {
    if (k == 3) return std::numeric_limits<T>::quiet_NaN();
    if (k == 4) return -std::numeric_limits<T>::infinity();
    if (k == 5) return std::numeric_limits<T>::infinity();
    if (k == 6) return -std::numeric_limits<T>::quiet_NaN();
    return static_cast<T>(static_cast<double>(k - 18) / 10);
  } else {
    return static_cast<T>(k - 18);
  }
}

// The number of elements `f(i, j)` for which `in(k, element)` holds, of each `k`.
template <class Element, class In>
std::vector<Int> counted(Int n, Int m, Int bins, Element f, In in) {
  std::vector<Int> out(static_cast<std::size_t>(bins));
  for (Int i = 0; i < n; ++i)
    for (Int j = 0; j < m; ++j)
      for (Int k = 0; k < bins; ++k)
        if (in(k, f(i, j))) ++out[static_cast<std::size_t>(k)];
  return out;
}
template <class A>
Int wrong(A const& a, std::vector<Int> const& right) {
  return on_ranks::wrong(a, [&](Int k) { return right[static_cast<std::size_t>(k)]; }) +
         (a.extents()[0] == static_cast<Int>(right.size()) ? 0 : 1);
}

// The sum of the ranks' counts, and the counts by named results, in all ways.
template <class Strict, class Named>
Int wrong_counts(std::vector<Int> const& right, Strict const& strict, Named const& named) {
  return wrong(strict, right) + wrong(named.template operator()<Dim<V>>(), right) +
         wrong(named.template operator()<Dim<V, X>>(), right) +
         wrong(named.template operator()<Dim<V, Y, X>>(), right);
}

template <class T>
Int wrong_ids(Mesh<X, Y> const& mesh, Int n, Int m, Int bins) {
  auto const right = counted(n, m, bins, &id<Int>, [](Int k, Int element) { return element == k; });
  auto const split = from_function<T, Dim<I, Y>, Dim<J, X>>(mesh, {n, m}, &id<T>);
  auto const cyclic = from_function<T, Dim<I, Cyclic<X, 2>>, Dim<J>>(mesh, {n, m}, &id<T>);
  auto const whole = from_function<T, Dim<I>, Dim<J>>(mesh, {n, m}, &id<T>);
  auto const strict = bincount<V>(split, bins);
  static_assert(std::is_same_v<decltype(strict), Tensor<Int, Dim<V>, Unreduced<X, Y>> const>);
  return wrong_counts(right, all_reduce<X, Y>(strict),
                      [&]<class Out>() { return bincount<V, Out>(split, bins); }) +
         wrong_counts(right, all_reduce<X>(bincount<V>(cyclic, bins)),
                      [&]<class Out>() { return bincount<V, Out>(cyclic, bins); }) +
         wrong_counts(right, bincount<V>(whole, bins),
                      [&]<class Out>() { return bincount<V, Out>(whole, bins); });
}

// Edges as NumPy has them, in `Edge`; the last bin has its end.
template <class T, class Edge>
Int wrong_bins(Mesh<X, Y> const& mesh, Int n, Int m, Int bins, double low, double high) {
  double const from = low == high ? low - 0.5 : low;
  double const to = low == high ? high + 0.5 : high;
  auto const edge = [=](Int k) {
    return k == bins
               ? static_cast<Edge>(to)
               : static_cast<Edge>(
                     static_cast<double>(k) * ((to - from) / static_cast<double>(bins)) + from);
  };
  auto const in = [=](Int k, T element) {
    auto const x = static_cast<Edge>(element);
    return x >= edge(k) && (k + 1 == bins ? x <= edge(bins) : x < edge(k + 1));
  };
  auto const right = counted(n, m, bins, &number<T>, in);
  auto const a = from_function<T, Dim<I, X>, Dim<J>>(mesh, {n, m}, &number<T>);
  return wrong_counts(right, all_reduce<X>(histogram<V>(a, bins, low, high)),
                      [&]<class Out>() { return histogram<V, Out>(a, bins, low, high); });
}

template <class T>
bool is_less(T a, T b) {
  return a < b || (b != b && a == a);
}
// A sorted table: of a hostile row, or of steps.
template <class T>
std::vector<T> table_of(Int n) {
  std::vector<T> out;
  for (Int k = 0; k < n; ++k) out.push_back(number<T>(k / 2, 0));
  std::stable_sort(out.begin(), out.end(), &is_less<T>);
  return out;
}
template <class T>
Int wrong_searches(Mesh<X, Y> const& mesh, Int n, Int m, Int rows) {
  std::vector<T> const sorted = table_of<T>(rows);
  auto const table = from_function<T, Dim<V>>(
      mesh, {rows}, [&](Int k) { return sorted[static_cast<std::size_t>(k)]; });
  auto const queries = from_function<T, Dim<I, X>, Dim<J, Y>>(mesh, {n, m}, &number<T>);
  auto const bound = [&](Int i, Int j, bool right) {
    T const q = number<T>(i, j);
    auto const at = right ? std::upper_bound(sorted.begin(), sorted.end(), q, &is_less<T>)
                          : std::lower_bound(sorted.begin(), sorted.end(), q, &is_less<T>);
    return static_cast<Int>(at - sorted.begin());
  };
  auto const left = searchsorted<V>(table, queries);
  static_assert(std::is_same_v<decltype(left), Tensor<Int, Dim<I, X>, Dim<J, Y>> const>);
  return on_ranks::wrong(left, [&](Int i, Int j) { return bound(i, j, false); }) +
         on_ranks::wrong(searchsorted<V>(table, queries, op::Side::right),
                         [&](Int i, Int j) { return bound(i, j, true); });
}

}  // namespace

TEST_CASE("bincount: ids of every sharding, strict and named") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (auto const& [n, m] : {std::pair<Int, Int>{37, 5}, {3, 2}, {1, 1}, {0, 4}, {4, 0}})
    for (Int const bins : {0, 1, 9, 20}) {
      INFO(n << " " << m << ", bins " << bins);
      CHECK(wrong_ids<std::int32_t>(mesh, n, m, bins) == 0);
      CHECK(wrong_ids<Int>(mesh, n, m, bins) == 0);
    }
  auto const four = from_function<Int, Dim<I, X, Y>>(mesh, {9}, [](Int i) { return i % 4; });
  CHECK(wrong(bincount<V4, Dim<V4>>(four), {3, 2, 2, 2}) == 0);
  auto const same = full<Int, Dim<I, X, Y>>(mesh, {1000}, 3);
  CHECK(wrong(bincount<V4, Dim<V4>>(same), {0, 0, 0, 1000}) == 0);
  using Limits = std::numeric_limits<Int>;
  auto const far = from_function<Int, Dim<I, X>>(
      mesh, {6}, [](Int i) { return i % 2 == 0 ? Limits::lowest() : Limits::max(); });
  CHECK(wrong(bincount<V4, Dim<V4, X>>(far), {0, 0, 0, 0}) == 0);
  // a value without dims is one element
  CHECK(wrong(bincount<V4, Dim<V4>>(full<Int>(mesh, {}, 1)), {0, 1, 0, 0}) == 0);
}

TEST_CASE("histogram: edges in the upper bin, the range's end in the last, NaN nowhere") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (auto const& [n, m] : {std::pair<Int, Int>{37, 7}, {2, 3}, {0, 4}})
    for (Int const bins : {0, 1, 10, 13}) {
      INFO(n << " " << m << ", bins " << bins);
      CHECK(wrong_bins<float, float>(mesh, n, m, bins, -1, 1) == 0);
      CHECK(wrong_bins<double, double>(mesh, n, m, bins, -0.3, 1.7) == 0);
      CHECK(wrong_bins<double, double>(mesh, n, m, bins, 0.1, 0.1) == 0);
      CHECK(wrong_bins<std::int32_t, double>(mesh, n, m, bins, -7, 12) == 0);
    }
  // one element of each edge
  auto const edges = from_function<float, Dim<I, X>>(
      mesh, {11}, [](Int i) { return static_cast<float>(0.1 * static_cast<double>(i)); });
  CHECK(wrong(histogram<V, Dim<V>>(edges, 10, 0.0, 1.0), {1, 1, 1, 1, 1, 1, 1, 1, 1, 2}) == 0);
}

TEST_CASE("searchsorted: queries of every sharding, equal elements, NaN last") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  for (Int const rows : {0, 1, 2, 50, 71})
    for (auto const& [n, m] : {std::pair<Int, Int>{37, 7}, {2, 3}, {0, 4}}) {
      INFO(n << " " << m << ", rows " << rows);
      CHECK(wrong_searches<float>(mesh, n, m, rows) == 0);
      CHECK(wrong_searches<double>(mesh, n, m, rows) == 0);
      CHECK(wrong_searches<std::int32_t>(mesh, n, m, rows) == 0);
    }
}

TEST_CASE("in automatic mode, in shard_map, in a function with a gradient") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<double, Dim<I, X>, Dim<J, Y>>(mesh, {19, 6}, &number<double>);
  auto const ids = from_function<Int, Dim<I, X>, Dim<J, Y>>(mesh, {19, 6}, &id<Int>);
  auto const table = from_function<double, Dim<V>>(
      mesh, {9}, [](Int k) { return static_cast<double>(k) / 4 - 1; });
  auto const counts = histogram<V, Dim<V>>(a, 8, -1.0, 1.0);
  auto const of_ids = bincount<V, Dim<V>>(ids, 8);
  auto const rows = searchsorted<V>(table, a);
  CHECK(array_equal(evaluate<Dim<V>>(mesh, histogram<V>(lazy(a), 8, -1.0, 1.0)), counts));
  CHECK(array_equal(evaluate<Dim<V, X>>(mesh, bincount<V>(lazy(ids), 8) * 2),
                    reshard<Dim<V, X>>((of_ids * 2).tensor())));
  CHECK(array_equal(evaluate<Dim<V, X>>(mesh, bincount<V, Dim<V, Y>>(lazy(ids), 8)),
                    reshard<Dim<V, X>>(of_ids)));
  CHECK(array_equal(evaluate<Dim<I, X>, Dim<J, Y>>(mesh, searchsorted<V>(lazy(table), lazy(a))),
                    rows));
  CHECK(array_equal(bincount<V, Dim<V>>(rows, 10),
                    evaluate<Dim<V>>(mesh, bincount<V>(searchsorted<V>(table, lazy(a)), 10))));
  auto const equal = from_function<double, Dim<I, X>, Dim<J, Y>>(mesh, {24, 24}, &number<double>);
  auto const of_blocks = shard_map<Dim<V>>(
      [](auto block) { return all_reduce<X, Y>(histogram<V>(block, 8, -1.0, 1.0)); }, equal);
  CHECK(array_equal(of_blocks, histogram<V, Dim<V>>(equal, 8, -1.0, 1.0)));
  // counts are constants
  auto const g = grad([&](auto const& x) {
    return sum<Tensor<double>>(x * 2.0) +
           cast<double>(sum<Tensor<Int>>(histogram<V, Dim<V>>(x, 8, -1.0, 1.0)));
  })(a);
  CHECK(on_ranks::wrong(g, [](Int, Int) { return 2; }) == 0);
}

TEST_CASE("errors") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = full<float, Dim<I, X>>(mesh, {5}, 1.0F);
  auto const ids = full<Int, Dim<I, X>>(mesh, {5}, 7);
  double const infinity = std::numeric_limits<double>::infinity();
  std::string text;
  try {
    static_cast<void>(histogram<V>(a, 3, 1.0, 0.0));
  } catch (Error const& e) {
    text = e.what();
  }
  CHECK(text.find("[shardtype E41] histogram of 3 bins from 1.000000 to 0.000000; the range is "
                  "finite, and does not end before it begins") == 0);
  CHECK(code_of([&] { histogram<V>(a, 3, 0.0, infinity); }) == "E41");
  CHECK(code_of([&] { histogram<V>(a, 3, -infinity, infinity); }) == "E41");
  CHECK(code_of([&] { histogram<V>(a, 3, std::nan(""), 1.0); }) == "E41");
  CHECK(code_of([&] { histogram<V>(a, -1, 0.0, 1.0); }) == "E20");
  CHECK(code_of([&] { bincount<V>(ids, -1); }) == "E20");
  CHECK(code_of([&] { bincount<V4>(ids, 5); }) == "E20");
  CHECK(code_of([&] { bincount<V>(ids, 7); }) == "none");
  runtime::run_time.settings.check_values = true;
  CHECK(code_of([&] { bincount<V>(ids, 7); }) == "E50");
  runtime::run_time.settings.check_values = false;
}
