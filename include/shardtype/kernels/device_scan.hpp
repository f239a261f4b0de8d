#pragma once
/// Device: scans of few long columns. Groups of rows are scanned apart, then the totals of groups,
/// then what is before a group is added to its rows. All of it in the memory of the result: a
/// group's total is in its last row, or, if values exclude their own element, in its first.

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>

namespace shardtype::kernels::detail {

/// Some rows of the columns of [outer, middle, inner], in the order of the scan: `count` of each
/// column, the first at row `first`, `step` rows apart.
struct ScannedRows {
  std::int64_t middle, inner;
  bool reverse;
  std::int64_t first, step, count;

  /// Element `n` of these rows, of column `c`.
  KOKKOS_FUNCTION std::int64_t at(std::int64_t c, std::int64_t n) const {
    std::int64_t const k = first + n * step;
    return (c / inner * middle + (reverse ? middle - 1 - k : k)) * inner + c % inner;
  }
};

/// One call scans one group of one column. With one group per column, the values begin with
/// `start`, and are those of the whole column.
template <class T, class R>
struct ScanGroup {
  using Part = typename R::Part;
  T const* src;
  T* dst;
  T const* start;  ///< or null
  ScannedRows rows;
  std::int64_t columns, group, groups;
  bool exclusive;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const c = work % columns;
    std::int64_t const begin = work / columns * group;
    std::int64_t const end = begin + group < rows.count ? begin + group : rows.count;
    bool const whole = groups == 1;
    Part sum = whole && start != nullptr ? R::load(static_cast<typename R::Element>(start[c]))
                                         : R::nothing();
    for (std::int64_t n = begin; n < end; ++n) {
      std::int64_t const at = rows.at(c, n);
      Part next = sum;
      R::join(next, R::load(static_cast<typename R::Element>(src[at])));
      dst[at] = static_cast<T>(exclusive ? sum : next);
      sum = next;
    }
    if (exclusive && !whole) dst[rows.at(c, begin)] = static_cast<T>(sum);
  }
};
/// The same of rows far apart, the totals of groups.
template <class T, class R>
struct ScanTotals : ScanGroup<T, R> {};

/// One call adds to one element what is before its group.
template <class T, class R>
struct AddBefore {
  T* dst;
  T const* start;  ///< or null
  ScannedRows rows;
  std::int64_t columns, group;
  bool exclusive;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const c = work % columns, n = work / columns;
    std::int64_t const begin = n / group * group;
    typename R::Part sum = R::nothing();
    if (exclusive) {
      if (n == begin) return;
      sum = load(dst[rows.at(c, begin)]);
    } else {
      if (n + 1 == begin + group) return;  // a total of a whole group
      if (begin > 0) {
        sum = load(dst[rows.at(c, begin - 1)]);
      } else if (start != nullptr) {
        sum = load(start[c]);
      } else {
        return;
      }
    }
    T& to = dst[rows.at(c, n)];
    R::join(sum, load(to));
    to = static_cast<T>(sum);
  }
  KOKKOS_FUNCTION static typename R::Part load(T const& x) {
    return R::load(static_cast<typename R::Element>(x));
  }
};

/// Calls that keep all threads of a device busy, and rows of a group at least and at most.
inline constexpr std::int64_t scan_calls = 65'536;
inline constexpr std::int64_t least_group = 16;
inline constexpr std::int64_t most_group = 256;

/// Whether columns are few and long.
constexpr bool scans_in_groups(std::int64_t columns, std::int64_t middle) {
  return columns < scan_calls && middle > 2 * least_group;
}

/// As scan_middle, where `scans_in_groups`, of a reducer whose values are kept in `T`.
template <class R, class T, class Exec>
void scan_in_groups(Exec const& exec, T const* src, T* dst, T const* start, std::int64_t outer,
                    std::int64_t middle, std::int64_t inner, bool exclusive, bool reverse) {
  std::int64_t const columns = outer * inner;
  auto const group_of = [&](std::int64_t rows) {
    return std::clamp(columns * rows / scan_calls, least_group, most_group);
  };
  ScannedRows levels[16];
  std::int64_t group[16];
  int top = 0;
  levels[0] = {middle, inner, reverse, 0, 1, middle};
  for (;; ++top) {
    ScannedRows const& rows = levels[top];
    std::int64_t const g = group[top] = group_of(rows.count);
    std::int64_t const groups = (rows.count + g - 1) / g;
    ScanGroup<T, R> const one{
        top == 0 ? src : dst, dst, start, rows, columns, g, groups, exclusive};
    if (top == 0) {
      kernels::launch(exec, "shardtype::scan", columns * groups, one);
    } else {
      kernels::launch(exec, "shardtype::scan", columns * groups, ScanTotals<T, R>{one});
    }
    if (groups == 1) break;
    // a last group that is not whole has no total that is read
    levels[top + 1] = {middle,        inner,
                       reverse,       exclusive ? rows.first : rows.first + (g - 1) * rows.step,
                       g * rows.step, exclusive ? groups : rows.count / g};
  }
  while (top-- > 0)
    kernels::launch(exec, "shardtype::scan", columns * levels[top].count,
                    AddBefore<T, R>{dst, start, levels[top], columns, group[top], exclusive});
}

}  // namespace shardtype::kernels::detail
