// Sorting along a dim, compared with std::sort of values and indices: all element types, NaNs,
// equal elements, rows of every length, dims before and after; windows whose start is a value.
// OPTIMIZE: 1
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/host_block.hpp"
#include "harness/on_ranks.hpp"

using namespace shardtype;

namespace {

struct X : Axis<"X"> {};
struct Y : Axis<"Y"> {};
struct I : Index<"I"> {};
struct J : Index<"J"> {};
struct K : Index<"K"> {};
struct L : Index<"L"> {};
struct P9 : Index<"P9", 9> {};
struct P4 : Index<"P4", 4> {};

using Int = std::int64_t;

// Few different values, so that many are equal; for floating types also NaNs and both zeros.
template <class T>
T value(Int i, Int j, Int k) {
  std::uint64_t h = static_cast<std::uint64_t>(i * 7919 + j * 104729 + k * 1299709 + 12345);
  h = (h ^ h >> 13) * 0x9E3779B97F4A7C15U;
  Int const v = static_cast<Int>(h >> 40) % 97 - 48;
  if constexpr (std::is_floating_point_v<T>) {
    if (v == 5) return std::numeric_limits<T>::quiet_NaN();
    if (v == 6) return -std::numeric_limits<T>::infinity();
    if (v == 7) return T(-0.0);
    return T(v) / T(4);
  } else if constexpr (std::is_same_v<T, bool>) {
    return v > 0;
  } else {
    return static_cast<T>(v);
  }
}

template <class T>
bool same(T a, T b) {
  return a == b ? std::signbit(static_cast<double>(a)) == std::signbit(static_cast<double>(b))
                : a != a && b != b;
}

// The indices of a row in sorted order; equal elements keep their order.
template <class T>
std::vector<Int> order_of(std::vector<T> const& row, op::Order order) {
  std::vector<Int> at(row.size());
  for (std::size_t k = 0; k < at.size(); ++k) at[k] = static_cast<Int>(k);
  auto const before = [&](T x, T y) {
    if (y != y) return x == x;
    return order == op::Order::ascending ? x < y : y < x;
  };
  std::sort(at.begin(), at.end(), [&](Int a, Int b) {
    T const x = row[static_cast<std::size_t>(a)];
    T const y = row[static_cast<std::size_t>(b)];
    return before(x, y) || (!before(y, x) && a < b);
  });
  return at;
}

// The number of wrong elements of this rank's block of `a`, sorted along dim `at` into `sorted` and
// `places`; `before` is the unsorted block.
template <class T, class Values, class Places>
int wrong(std::array<Int, 3> const& n, std::size_t at, op::Order order, Values const& sorted,
          Places const& places, Int keep) {
  int bad = sorted.extents()[at] == keep && places.extents()[at] == keep ? 0 : 1;
  struct Row {
    std::vector<T> values;
    std::vector<Int> order;
  };
  std::map<std::array<Int, 3>, Row> rows;
  auto const sorted_here = harness::host_block(sorted);
  auto const places_here = harness::host_block(places);
  detail::for_each_element(sorted, [&](Int e, std::array<Int, 3> const& index) {
    std::array<Int, 3> first = index;
    first[at] = 0;
    Row& row = rows[first];
    if (row.values.empty()) {
      for (Int k = 0; k < n[at]; ++k) {
        first[at] = k;
        row.values.push_back(value<T>(first[0], first[1], first[2]));
      }
      row.order = order_of(row.values, order);
    }
    Int const from = row.order[static_cast<std::size_t>(index[at])];
    if (places_here.data()[e] != from) ++bad;
    if (!same<T>(sorted_here.data()[e], row.values[static_cast<std::size_t>(from)])) ++bad;
  });
  return bad;
}

template <class T>
int wrong_sorts(Mesh<X, Y> const& mesh, std::array<Int, 3> const& n) {
  auto const f = [](Int i, Int j, Int k) { return value<T>(i, j, k); };
  int bad = 0;
  auto const last = from_function<T, Dim<I, X>, Dim<J, Y>, Dim<K>>(mesh, n, f);
  auto const middle = from_function<T, Dim<I, X>, Dim<J>, Dim<K, Y>>(mesh, n, f);
  for (op::Order order : {op::Order::ascending, op::Order::descending}) {
    bad += wrong<T>(n, 2, order, sort<K>(last, order), argsort<K>(last, order), n[2]);
    bad += wrong<T>(n, 1, order, sort<J>(middle, order), argsort<J>(middle, order), n[1]);
  }
  for (Int keep : {Int{0}, Int{1}, Int{5}, Int{32}, Int{40}, n[2]}) {
    if (keep > n[2]) continue;
    auto const [values, places] = top_k<K, L>(last, keep);
    static_assert(std::is_same_v<decltype(values), Tensor<T, Dim<I, X>, Dim<J, Y>, Dim<L>> const>);
    bad += wrong<T>(n, 2, op::Order::descending, values, places, keep);
  }
  Int const keep = std::min<Int>(3, n[1]);
  auto first = top_k<J>(middle, keep);
  static_assert(std::tuple_size_v<decltype(first)> == 2);
  bad += wrong<T>(n, 1, op::Order::descending, std::get<0>(std::as_const(first)),
                  std::get<1>(first), keep);
  auto const taken = std::get<0>(std::move(first));
  return bad +
         wrong<T>(n, 1, op::Order::descending, taken, std::get<1>(top_k<J>(middle, keep)), keep);
}

}  // namespace

TEST_CASE("sort, argsort and top_k: all element types, rows of every length") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  std::vector<std::array<Int, 3>> const sizes = {{3, 4, 17}, {1, 1, 1},  {2, 33, 16}, {5, 0, 3},
                                                 {0, 2, 2},  {7, 16, 0}, {2, 2, 300}, {1, 130, 5}};
  for (auto const& n : sizes) {
    INFO(n[0] << " " << n[1] << " " << n[2]);
    CHECK(wrong_sorts<float>(mesh, n) == 0);
    CHECK(wrong_sorts<double>(mesh, n) == 0);
    CHECK(wrong_sorts<bool>(mesh, n) == 0);
    CHECK(wrong_sorts<std::int32_t>(mesh, n) == 0);
    CHECK(wrong_sorts<Int>(mesh, n) == 0);
  }
  for (Int n = 1; n < 1200; n += n < 70 ? 1 : n < 300 ? 47 : 362) {
    INFO("rows of " << n);
    CHECK(wrong_sorts<float>(mesh, {3, 7, n}) == 0);
    CHECK(wrong_sorts<Int>(mesh, {5, n, 3}) == 0);
    if (n % 5 != 0) continue;
    CHECK(wrong_sorts<double>(mesh, {9, 1, n}) == 0);
    CHECK(wrong_sorts<std::int32_t>(mesh, {2, n, 19}) == 0);
    CHECK(wrong_sorts<bfloat16>(mesh, {1, 5, n}) == 0);
  }
  // longer than one run
  CHECK(wrong_sorts<float>(mesh, {1, 2, 40001}) == 0);
  CHECK(wrong_sorts<Int>(mesh, {2, 16385, 2}) == 0);
}

TEST_CASE("sorting: expressions, what is reduced, take_along of argsort") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const a = from_function<double, Dim<I, X>, Dim<J>>(
      mesh, {5, 40}, [](Int i, Int j) { return value<double>(i, j, 0); });
  auto const b = take_along<J>(a, argsort<J>(a));
  auto const c = sort<J>(a);
  int bad = 0;
  auto const taken = harness::host_block(b);
  auto const sorted = harness::host_block(c);
  for (Int k = 0; k < a.local_size(); ++k)
    if (!same(taken.data()[k], sorted.data()[k])) ++bad;
  CHECK(bad == 0);
  CHECK(item(sum<Tensor<Int>>(cast<Int>(sort<J>(cast<Int>(isnan(a)) * Int{2})))) ==
        2 * item(sum<Tensor<Int>>(isnan(a))));
  static_assert(std::is_same_v<decltype(sort<J>(reduced<Y>(a))),
                               Tensor<double, Dim<I, X>, Dim<J>, Reduced<Y>>>);
  CHECK(on_ranks::code_of([&] { top_k<J, K>(a, 41); }) == "E41");
  CHECK(on_ranks::code_of([&] { top_k<J, K>(a, -1); }) == "E41");
}

TEST_CASE("dynamic_slice and dynamic_update: the window is moved to fit") {
  auto const mesh = on_ranks::two_axes<X, Y>();
  auto const f = [](Int i, Int j) { return i * 100 + j + 1; };
  auto const a = from_function<Int, Dim<I, X>, Dim<J>>(mesh, {7, 9}, f);
  auto const wrong_slice = [&](auto const& part, Int begin, Int size) {
    int bad = part.extents() == std::array<Int, 2>{7, size} ? 0 : 1;
    auto const block = harness::host_block(part);
    detail::for_each_element(part, [&](Int at, std::array<Int, 2> const& index) {
      if (block.data()[at] != f(index[0], index[1] + begin)) ++bad;
    });
    return bad;
  };
  for (Int const size : {0, 1, 4, 9})
    for (Int const start : {-3, 0, 2, 5, 8, 9, 20}) {
      INFO(size << " " << start);
      Int const begin = std::clamp<Int>(start, 0, 9 - size);
      CHECK(wrong_slice(dynamic_slice<J, K>(a, start, size), begin, size) == 0);
      // the start is a computed tensor
      auto const at = full<std::int32_t>(mesh, {}, static_cast<std::int32_t>(start) - 1);
      CHECK(wrong_slice(dynamic_slice<J>(a, at + 1, size), begin, size) == 0);
      auto const b = from_function<Int, Dim<I, X>, Dim<K>>(
          mesh, {7, size}, [](Int i, Int k) { return -i * 100 - k - 1; });
      auto const c = dynamic_update<J, K>(a, b, at + 1);
      int bad = 0;
      auto const block = harness::host_block(c);
      detail::for_each_element(c, [&](Int e, std::array<Int, 2> const& index) {
        Int const k = index[1] - begin;
        Int const right = k >= 0 && k < size ? -index[0] * 100 - k - 1 : f(index[0], index[1]);
        if (block.data()[e] != right) ++bad;
      });
      CHECK(bad == 0);
    }
  // along the first dim, of an unreduced tensor, and with a label of static extent
  auto const p =
      from_function<Int, Dim<P9>, Dim<I, X>>(mesh, {9, 7}, [&](Int j, Int i) { return f(i, j); });
  auto const part = dynamic_slice<P9, P4>(to_partial<Y>(p), 3, 4);
  static_assert(
      std::is_same_v<decltype(part), Tensor<Int, Dim<P4>, Dim<I, X>, Unreduced<Y>> const>);
  CHECK(wrong_slice(transpose<I, P4>(all_reduce<Y>(part)), 3, 4) == 0);
  auto const back = all_reduce<Y>(dynamic_update<P9, P4>(to_partial<Y>(p) * Int{0}, part, 3));
  CHECK(item(sum<Tensor<Int>>(back)) == item(sum<Tensor<Int>>(slice<P9, K>(p, 3, 7))));
  CHECK(on_ranks::code_of([&] { dynamic_slice<J, K>(a, 0, 10); }) == "E41");
  CHECK(on_ranks::code_of([&] { dynamic_slice<J, K>(a, 0, -1); }) == "E41");
  CHECK(on_ranks::code_of([&] {
          dynamic_update<J, K>(a, zeros<Int, Dim<I, X>, Dim<K>>(mesh, {7, 10}), 0);
        }) == "E41");
  CHECK(on_ranks::code_of([&] {
          dynamic_update<J, K>(a, zeros<Int, Dim<I, X>, Dim<K>>(mesh, {6, 2}), 0);
        }) == "E24");
  CHECK(on_ranks::code_of([&] {
          dynamic_slice<J>(a, full<Int>(on_ranks::two_axes<X, Y>(), {}, 1), 2);
        }) == "E23");
}

TEST_CASE("sorting on ranks outside the mesh") {
  Mesh<X> const one(MPI_COMM_WORLD, {1});
  auto const a = full<float, Dim<I>, Dim<J>>(one, {7, 5}, 1.0F);
  CHECK(sort<J>(a).extents() == a.extents());
  CHECK(top_k<J>(a, 2).places.extents() == std::array<Int, 2>{7, 2});
  CHECK(dynamic_slice<J>(a, full<Int>(one, {}, 1), 2).extents() == std::array<Int, 2>{7, 2});
  CHECK(dynamic_update<J>(a, slice<J>(a, 0, 2), full<Int>(one, {}, 1)).extents() == a.extents());
}
