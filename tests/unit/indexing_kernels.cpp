// The kernels of sorting and scatters in cases that tests of whole operations do not reach: all
// numbers of kept elements, rows that several kernel calls share.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include <shardtype/kernels/scatter.hpp>
#include <shardtype/kernels/sort.hpp>

#include "harness/catch.hpp"

using namespace shardtype::kernels;
using Int = std::int64_t;
using Host = Kokkos::DefaultHostExecutionSpace;

namespace {

std::vector<float> rows_with_nans(Int n) {
  std::vector<float> in(static_cast<std::size_t>(n));
  for (Int k = 0; k < n; ++k) {
    Int const h = (k * 2654435761 >> 7) % 97;
    in[static_cast<std::size_t>(k)] = h == 5 ? NAN : static_cast<float>(h);
  }
  return in;
}

int wrong_places(Int n, Int keep, bool descending) {
  Int const rows = 2;
  auto const in = rows_with_nans(rows * n);
  std::vector<Keyed<float>> a(in.size());
  std::vector<Keyed<float>> b(in.size());
  SortPlan const plan = plan_sort<Host>(rows, n, keep);
  sort_rows<Keyed<float>>(Host{}, plan, in.data(), a.data(), b.data(), descending);
  auto const& sorted = plan.ends_in_first() ? a : b;
  int bad = 0;
  for (Int row = 0; row < rows; ++row) {
    float const* const values = in.data() + row * n;
    std::vector<Int> at(static_cast<std::size_t>(n));
    for (std::size_t k = 0; k < at.size(); ++k) at[k] = static_cast<Int>(k);
    auto const before = [&](float x, float y) {
      if (std::isnan(y)) return !std::isnan(x);
      return descending ? y < x : x < y;
    };
    std::sort(at.begin(), at.end(), [&](Int x, Int y) {
      return before(values[x], values[y]) || (!before(values[y], values[x]) && x < y);
    });
    for (Int k = 0; k < keep; ++k)
      if (sorted[static_cast<std::size_t>(row * n + k)].place != at[static_cast<std::size_t>(k)])
        ++bad;
  }
  return bad;
}

/// Rows of drawn values, of few values and of special ones, sorted with the bits of
/// std::stable_sort.
template <class T>
int wrong_values(Int rows, Int n, int kind, bool descending) {
  auto const drawn = [&](std::uint64_t k) -> T {
    std::uint64_t h = (k + 1) * 0x9e3779b97f4a7c15U;
    h ^= h >> 29;
    h *= 0xbf58476d1ce4e5b9U;
    h ^= h >> 32;
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(kind == 0 ? h : h % 3);
    } else {
      double const inf = std::numeric_limits<double>::infinity();
      double const special[] = {0.0, -0.0, NAN, -NAN, 1, -1, inf, -inf, 5e-324, 1e-40, -1e-40};
      return static_cast<T>(kind == 0   ? static_cast<double>(h % 20011) / 97 - 100
                            : kind == 1 ? static_cast<double>(h % 5) - 2
                                        : special[h % 11]);
    }
  };
  std::vector<T> in(static_cast<std::size_t>(rows * n));
  for (std::size_t k = 0; k < in.size(); ++k) in[k] = drawn(k);
  std::vector<T> a(in.size());
  std::vector<T> b(in.size());
  SortPlan const plan = plan_sort<Host>(rows, n, n);
  sort_rows<T>(Host{}, plan, in.data(), a.data(), b.data(), descending);
  std::vector<T> expected = in;
  for (Int row = 0; row < rows; ++row)
    std::stable_sort(expected.begin() + row * n, expected.begin() + (row + 1) * n,
                     detail::Before<T>{descending});
  return std::memcmp(expected.data(), (plan.ends_in_first() ? a : b).data(),
                     sizeof(T) * expected.size()) == 0
             ? 0
             : 1;
}

}  // namespace

TEST_CASE("sorted values have the bits and the order of a stable sort") {
  auto const check = []<class T>(T) {
    std::vector<Int> lengths = {63,  64,  65,  100,  127,  193,  255,
                                256, 257, 300, 1000, 1024, 1025, 4097};
    for (Int n = 0; n <= 40; ++n) lengths.push_back(n);
    for (Int const n : lengths)
      for (int kind : {0, 1, 2})
        for (bool descending : {false, true})
          for (Int rows : {1, 7, 37}) {
            if (n <= 70 ? rows == 7 : rows != 7) continue;
            CAPTURE(n, kind, descending, rows, sizeof(T));
            CHECK(wrong_values<T>(rows, n, kind, descending) == 0);
          }
  };
  check(float{});
  check(double{});
  check(shardtype::bfloat16{});
  check(std::int8_t{});
  check(std::uint16_t{});
  check(std::int32_t{});
  check(std::int64_t{});
  check(std::uint64_t{});
}

TEST_CASE("the first of sorted rows, whole or selected") {
  for (Int n : {1, 16, 17, 64, 65, 100, 300, 9000, 40001})
    for (Int keep : {Int{0}, Int{1}, Int{5}, Int{32}, Int{33}, Int{70}, n})
      for (bool descending : {false, true}) {
        if (keep > n) continue;
        CAPTURE(n, keep, descending);
        CHECK(wrong_places(n, keep, descending) == 0);
      }
}

TEST_CASE("keys have the order of elements") {
  auto const ordered = []<class T>(std::vector<T> const& x) {
    for (std::size_t k = 1; k < x.size(); ++k) {
      CHECK(detail::sort_key(x[k - 1], false) < detail::sort_key(x[k], false));
      CHECK(detail::sort_key(x[k - 1], true) > detail::sort_key(x[k], true));
    }
  };
  auto const floating = [&]<class T>(T) {
    using Limits = std::numeric_limits<T>;
    std::vector<T> x;
    for (T const v :
         {Limits::infinity(), Limits::max(), T(3), T(1), Limits::min(), Limits::denorm_min()})
      x.push_back(-v);
    x.push_back(T(0));
    for (std::size_t k = 6; k-- > 0;) x.push_back(-x[k]);
    ordered(x);
    for (bool const descending : {false, true}) {
      CHECK(detail::sort_key(T(-0.0), descending) == detail::sort_key(T(0), descending));
      CHECK(detail::sort_key(-Limits::quiet_NaN(), descending) >
            detail::sort_key(descending ? -Limits::infinity() : Limits::infinity(), descending));
    }
  };
  floating(1.0F);
  floating(1.0);
  ordered(std::vector<std::int32_t>{INT32_MIN, -5, 0, 7, INT32_MAX});
  ordered(std::vector<std::int64_t>{INT64_MIN, -5, 0, 7, INT64_MAX});
  ordered(std::vector<shardtype::bfloat16>{shardtype::bfloat16(-2.0F), shardtype::bfloat16(0.0F),
                                           shardtype::bfloat16(1.5F)});
  CHECK(detail::sort_key(false, false) < detail::sort_key(true, false));
}

template <class T>
int wrong_bytes(Int n, Int keep, bool descending) {
  std::vector<T> in;
  for (Int k = 0; k < 2 * n; ++k)
    in.push_back(static_cast<T>(static_cast<T>((k * 7919) % 1013 - 500) * T(1000003)));
  std::vector<Keyed<T>> a(in.size());
  std::vector<Keyed<T>> b(in.size());
  detail::RadixRows<Keyed<T>, T> const sorts{in.data(), a.data(), b.data(), n, keep, descending};
  int bad = 0;
  for (Int row = 0; row < 2; ++row) {
    sorts(row);
    for (Int k = 0; k < keep; ++k) {
      auto const& x = a[static_cast<std::size_t>(row * n + k)];
      bad += x.key == in[static_cast<std::size_t>(row * n + x.place)] ? 0 : 1;
      if (k == 0) continue;
      auto const& y = a[static_cast<std::size_t>(row * n + k - 1)];
      bool const right = descending ? y.key > x.key : y.key < x.key;
      bad += right || (y.key == x.key && y.place < x.place) ? 0 : 1;
    }
  }
  return bad;
}

TEST_CASE("positions sorted by bytes") {
  for (Int n : {1, 2, 255, 256, 3000})
    for (Int keep : {n, n / 9, Int{1}})
      for (bool descending : {false, true}) {
        CAPTURE(n, keep, descending);
        CHECK(wrong_bytes<float>(n, keep, descending) == 0);
        CHECK(wrong_bytes<double>(n, keep, descending) == 0);
        CHECK(wrong_bytes<std::int32_t>(n, keep, descending) == 0);
        CHECK(wrong_bytes<std::int64_t>(n, keep, descending) == 0);
      }
}

TEST_CASE("rows are added once, however many calls share them") {
  NumberedRows const rows{{2, 7, 9}, 3, 50};  // ids 3 to 9 are here
  std::vector<std::int32_t> ids(50);
  for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = static_cast<std::int32_t>(k * 5 % 13);
  std::vector<Int> updates(2 * 50 * 9);
  for (std::size_t k = 0; k < updates.size(); ++k) updates[k] = static_cast<Int>(k) + 1;
  std::vector<Int> right(2 * 7 * 9, 0);
  for (std::size_t o = 0; o < 2; ++o)
    for (std::size_t k = 0; k < 50; ++k)
      for (std::size_t i = 0; i < 9; ++i)
        if (ids[k] >= 3 && ids[k] < 10)
          right[(o * 7 + static_cast<std::size_t>(ids[k]) - 3) * 9 + i] +=
              updates[(o * 50 + k) * 9 + i];
  for (Int parts : {1, 2, 3, 7})
    for (Int piece : {4, 9, 100}) {
      CAPTURE(parts, piece);
      Int const pieces = (rows.inner + piece - 1) / piece;
      std::vector<Int> out(right.size(), 0);
      detail::AddRowsInOrder<Int, std::int32_t> const add{
          updates.data(), ids.data(), out.data(), rows, parts, pieces, piece};
      for (Int work = 0; work < rows.outer * pieces * parts; ++work) add(work);
      CHECK(out == right);
    }
  std::vector<Int> out(right.size(), 0);
  detail::AddRowsAtOnce<Int, std::int32_t> const add{updates.data(), ids.data(), out.data(), rows};
  for (Int work = 0; work < static_cast<Int>(updates.size()); ++work) add(work);
  CHECK(out == right);
}

namespace {

/// Numbers that are distinct for most `k`, and whose sums depend on their order.
template <class T>
T drawn_element(Int k) {
  Int const h = (k * 2654435761 >> 5) % 251;
  if constexpr (std::is_same_v<T, bool>) {
    return h % 2 == 1;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(h % 100);
  } else if constexpr (requires(T x) { x.real(); }) {
    return T(static_cast<typename T::value_type>(h) / 7, static_cast<typename T::value_type>(k));
  } else {
    return static_cast<T>(h == 5 ? NAN : static_cast<float>(h) / 7 - 9);
  }
}
/// `n` ids for a block that has the rows `first` to first + rows. Kind 0: all are there. 1: some
/// are, in no order, and some are negative or the largest that there are. 2: runs of either. 3:
/// none.
template <class Id>
std::vector<Id> drawn_ids(Int n, Int first, Int rows, int kind) {
  std::vector<Id> ids(static_cast<std::size_t>(n));
  for (Int k = 0; k < n; ++k) {
    Int const h = (k * 2246822519 >> 3) % 9973;
    Int const here = rows == 0 ? first : first + h % rows;
    Int const strange[] = {-1,
                           first - 1,
                           first + rows,
                           std::numeric_limits<Id>::max(),
                           std::numeric_limits<Id>::min(),
                           first + rows + h};
    bool const elsewhere =
        kind == 3 || rows == 0 || (kind == 1 && h % 3 == 0) || (kind == 2 && k / 70 % 2 == 0);
    ids[static_cast<std::size_t>(k)] = static_cast<Id>(elsewhere ? strange[h % 6] : here);
  }
  return ids;
}
/// Memory of `n` elements: std::vector<bool> has none.
template <class T>
struct Numbers {
  std::unique_ptr<T[]> memory;
  std::size_t n;
  explicit Numbers(Int count, bool zero = false)
      : memory(new T[static_cast<std::size_t>(count)]{}), n(static_cast<std::size_t>(count)) {
    for (Int k = 0; k < count && !zero; ++k) (*this)[k] = drawn_element<T>(k);
  }
  T* data() const { return memory.get(); }
  T& operator[](Int k) const { return memory[static_cast<std::size_t>(k)]; }
  bool same_bits(Numbers const& other) const {
    return n == other.n && (n == 0 || std::memcmp(data(), other.data(), n * sizeof(T)) == 0);
  }
};

template <class T, class Id>
int wrong_lookups(NumberedRows const& r, int kind) {
  Numbers<T> const table(r.outer * r.n * r.inner);
  int bad = 0;
  {
    auto const ids = drawn_ids<Id>(r.count, r.first, r.n, kind);
    Numbers<T> const out(r.outer * r.count * r.inner);
    Numbers<T> const right(r.outer * r.count * r.inner, true);
    look_up(Host{}, table.data(), ids.data(), out.data(), r);
    for (Int k = 0; k < r.outer * r.count; ++k)
      if (Int const row = Int{ids[static_cast<std::size_t>(k % r.count)]} - r.first;
          row >= 0 && row < r.n)
        for (Int i = 0; i < r.inner; ++i)
          right[k * r.inner + i] = table[(k / r.count * r.n + row) * r.inner + i];
    bad += out.same_bits(right) ? 0 : 1;
  }
  auto const ids = drawn_ids<Id>(r.outer * r.count * r.inner, r.first, r.n, kind);
  Numbers<T> const out(r.outer * r.count * r.inner);
  Numbers<T> const right(r.outer * r.count * r.inner, true);
  take_along(Host{}, table.data(), ids.data(), out.data(), r);
  for (Int k = 0; k < static_cast<Int>(ids.size()); ++k)
    if (Int const row = Int{ids[static_cast<std::size_t>(k)]} - r.first; row >= 0 && row < r.n)
      right[k] = table[(k / (r.count * r.inner) * r.n + row) * r.inner + k % r.inner];
  return bad + (out.same_bits(right) ? 0 : 2);
}

template <class T, class Id>
int wrong_sums(NumberedRows const& r, int kind) {
  using Sum = shardtype::detail::computed_t<T>;
  Numbers<T> const updates(r.outer * r.count * r.inner);
  Int const size = r.outer * r.n * r.inner;
  int bad = 0;
  auto const ids = drawn_ids<Id>(r.outer * r.count * r.inner, r.first, r.n, kind);
  // of rows: the ids of the first block
  Numbers<Sum> const row_sums(size, true);
  Numbers<Sum> const sums(size, true);
  for (Int k = 0; k < static_cast<Int>(ids.size()); ++k) {
    Int const o = k / (r.count * r.inner);
    Int const of_row = Int{ids[static_cast<std::size_t>(k / r.inner % r.count)]} - r.first;
    Int const of_element = Int{ids[static_cast<std::size_t>(k)]} - r.first;
    if (of_row >= 0 && of_row < r.n)
      row_sums[(o * r.n + of_row) * r.inner + k % r.inner] += static_cast<Sum>(updates[k]);
    if (of_element >= 0 && of_element < r.n)
      sums[(o * r.n + of_element) * r.inner + k % r.inner] += static_cast<Sum>(updates[k]);
  }
  Numbers<Sum> const along(size, true);
  add_along(Host{}, updates.data(), ids.data(), along.data(), r);
  bad += along.same_bits(sums) ? 0 : 1;
  Numbers<T> const out(size, true);
  if constexpr (shardtype::detail::is_converted<T>) {
    std::vector<Int> memory(static_cast<std::size_t>(r.n + r.count));
    add_rows_by_lists(Host{}, updates.data(), ids.data(), out.data(), r, memory.data());
    Numbers<T> const right(size, true);
    for (Int k = 0; k < size; ++k) right[k] = static_cast<T>(row_sums[k]);
    bad += out.same_bits(right) ? 0 : 2;
  } else {
    add_rows(Host{}, updates.data(), ids.data(), out.data(), r);
    bad += out.same_bits(row_sums) ? 0 : 2;
  }
  return bad;
}

/// Calls `check(rows, kind)` for blocks of many shapes.
void for_shapes(auto const& check) {
  for (Int first : {0, 5})
    for (Int n : {0, 1, 40})
      for (Int outer : {1, 3})
        for (Int inner : {1, 2, 17, 65})
          for (Int count : {0, 1, 7, 63, 64, 200, 300})
            for (int kind : {0, 1, 2, 3})
              check(NumberedRows{{outer, n, inner}, first, count}, kind);
  // of several calls
  for (int kind : {0, 1, 2}) {
    check(NumberedRows{{2, 1000, 1}, 7, 9001}, kind);
    check(NumberedRows{{700, 3, 1}, 0, 20}, kind);
    check(NumberedRows{{3, 11, 5000}, 0, 13}, kind);
  }
}

}  // namespace

TEST_CASE("lookups of all types are those of a plain loop") {
  auto const all = []<class T>(T) {
    for_shapes([](NumberedRows const& r, int kind) {
      CAPTURE(sizeof(T), r.outer, r.n, r.inner, r.first, r.count, kind);
      int const wrong =
          wrong_lookups<T, std::int32_t>(r, kind) + 4 * wrong_lookups<T, Int>(r, kind);
      CHECK(wrong == 0);
    });
  };
  all(float{});
  all(double{});
  all(shardtype::bfloat16{});
  all(bool{});
  all(std::int8_t{});
  all(std::int16_t{});
  all(std::int32_t{});
  all(std::int64_t{});
  all(Kokkos::complex<float>{});
  all(Kokkos::complex<double>{});
}

TEST_CASE("sums by ids have the bits of a plain loop") {
  auto const all = []<class T>(T) {
    for_shapes([](NumberedRows const& r, int kind) {
      CAPTURE(sizeof(T), r.outer, r.n, r.inner, r.first, r.count, kind);
      int const wrong = wrong_sums<T, std::int32_t>(r, kind) + 4 * wrong_sums<T, Int>(r, kind);
      CHECK(wrong == 0);
    });
  };
  all(float{});
  all(double{});
  all(shardtype::bfloat16{});
  all(std::int8_t{});
  all(std::int32_t{});
  all(std::int64_t{});
  all(Kokkos::complex<float>{});
  all(Kokkos::complex<double>{});
}

TEST_CASE("elements are added once, however many calls share them") {
  for (Int inner : {1, 9, 70}) {
    NumberedRows const rows{{2, 7, inner}, 3, 150};  // ids 3 to 9 are here
    Int const n = rows.outer * rows.count * inner;
    auto const ids = drawn_ids<std::int32_t>(n, rows.first, rows.n, 1);
    Numbers<float> const updates(n);
    Numbers<float> const right(rows.outer * rows.n * inner, true);
    for (Int k = 0; k < n; ++k)
      if (Int const row = ids[static_cast<std::size_t>(k)] - rows.first; row >= 0 && row < rows.n)
        right[(k / (rows.count * inner) * rows.n + row) * inner + k % inner] += updates[k];
    for (Int parts : {1, 2, 3, 7})
      for (Int piece : {4, 9, 69, 100}) {
        CAPTURE(inner, parts, piece);
        Int const pieces = (inner + piece - 1) / piece;
        Numbers<float> const out(rows.outer * rows.n * inner, true);
        detail::AddAlongInOrder<float, std::int32_t, float> const add{
            updates.data(), ids.data(), out.data(), rows, parts, pieces, piece};
        for (Int work = 0; work < rows.outer * pieces * parts; ++work) add(work);
        CHECK(out.same_bits(right));
      }
  }
}

TEST_CASE("the rows of ids next to the largest") {
  std::vector<float> const table{1, 2, 3};
  constexpr std::int32_t top = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int32_t> ids(100, top);
  ids[3] = top - 1;
  ids[4] = std::numeric_limits<std::int32_t>::min();
  ids[5] = -1;
  std::vector<float> out(100, 9);
  look_up(Host{}, table.data(), ids.data(), out.data(), NumberedRows{{1, 3, 1}, Int{top} - 1, 100});
  CHECK(out[0] == 2);
  CHECK(out[3] == 1);
  CHECK(out[4] == 0);
  CHECK(out[5] == 0);
  CHECK(out[99] == 2);
  look_up(Host{}, table.data(), ids.data(), out.data(), NumberedRows{{1, 3, 1}, Int{top} + 1, 100});
  CHECK(out == std::vector<float>(100, 0));
}
