#pragma once
/// Device: scans of few long columns. The totals of groups of rows come first, then what is before
/// each group, and then the running values of each group from there. Totals are kept in the memory
/// of the result, in the first rows of their group, as the elements of a `Part` if that is wider.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>

namespace shardtype::kernels::detail {

/// Some rows of the columns of [outer, middle, inner], in the order of the scan: `count` of each
/// column, the first at row `first`, `step` rows apart.
struct ScannedRows {
  std::int64_t middle, inner;
  bool reverse;
  std::int64_t first, step, count;

  /// The offset of a column.
  template <class Number>
  KOKKOS_FUNCTION std::int64_t column(Number c) const {
    auto const width = static_cast<Number>(inner);
    return std::int64_t{c / width} * middle * inner + c % width;
  }
  /// Element `n` of these rows, of the column at offset `c`; `further`: so many rows behind it.
  KOKKOS_FUNCTION std::int64_t at(std::int64_t c, std::int64_t n, std::int64_t further = 0) const {
    std::int64_t const k = first + n * step + further;
    return c + (reverse ? middle - 1 - k : k) * inner;
  }
};
/// Groups of `rows.count` rows, of `group` rows; the last one has also those that are left.
struct ScannedGroups {
  std::int64_t columns, group, groups;
  ScannedRows rows;

  /// A group of a column.
  struct Group {
    std::int64_t number, column, at;  ///< of the group, of the column, and its offset
  };
  /// That of a call.
  template <class Number>
  KOKKOS_FUNCTION Group of_call(Number work) const {
    auto const all = static_cast<Number>(columns);
    Number const c = work % all;
    return {work / all, c, rows.column(c)};
  }

  KOKKOS_FUNCTION std::int64_t begin(std::int64_t g) const { return g * group; }
  KOKKOS_FUNCTION std::int64_t end(std::int64_t g) const {
    return g + 1 == groups ? rows.count : (g + 1) * group;
  }
  static ScannedGroups of(std::int64_t columns, std::int64_t group, ScannedRows const& rows) {
    std::int64_t const groups = rows.count < 2 * group ? 1 : rows.count / group;
    return {columns, group, groups, rows};
  }
};

/// Totals in the memory of the result: of a group at its first row.
template <class T, class R>
struct GroupSlots {
  using Part = typename R::Part;
  /// A bool has two values, so parts of a total in its memory are bytes.
  using Slot = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;
  static_assert(sizeof(Part) % sizeof(Slot) == 0 && sizeof(Slot) == sizeof(T));
  static constexpr int width = static_cast<int>(sizeof(Part) / sizeof(Slot));
  T* dst;

  KOKKOS_FUNCTION Slot& slot(std::int64_t at) const {
    if constexpr (std::is_same_v<T, Slot>) {
      return dst[at];
    } else {
      return reinterpret_cast<Slot*>(dst)[at];
    }
  }
  KOKKOS_FUNCTION Part get(ScannedRows const& rows, std::int64_t c, std::int64_t n) const {
    Slot parts[static_cast<std::size_t>(width)];
    for (int w = 0; w < width; ++w) parts[w] = slot(rows.at(c, n, w));
    Part out;
    std::memcpy(static_cast<void*>(&out), parts, sizeof(Part));
    return out;
  }
  KOKKOS_FUNCTION void put(ScannedRows const& rows, std::int64_t c, std::int64_t n,
                           Part const& x) const {
    Slot parts[static_cast<std::size_t>(width)];
    std::memcpy(static_cast<void*>(parts), &x, sizeof(Part));
    for (int w = 0; w < width; ++w) slot(rows.at(c, n, w)) = parts[w];
  }
};

/// One call totals the elements of one group of one column.
template <class T, class R>
struct TotalGroup {
  T const* src;
  GroupSlots<T, R> slots;
  ScannedGroups of;

  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    auto const [g, number, c] = of.of_call(work);
    typename R::Part sum = R::nothing();
    for (std::int64_t n = of.begin(g); n < of.end(g); ++n)
      R::join(sum, R::load(static_cast<typename R::Element>(src[of.rows.at(c, n)])));
    slots.put(of.rows, c, of.begin(g), sum);
  }
};
/// One call scans the totals of one group of groups; each becomes what is before it within the
/// group, the first one the total of the group, or with one group `start`.
template <class T, class R>
struct ScanTotals {
  GroupSlots<T, R> slots;
  ScannedGroups of;
  T const* start;  ///< or null

  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    auto const [g, number, c] = of.of_call(work);
    bool const whole = of.groups == 1;
    typename R::Part sum = whole && start != nullptr
                               ? R::load(static_cast<typename R::Element>(start[number]))
                               : R::nothing();
    for (std::int64_t n = of.begin(g); n < of.end(g); ++n) {
      typename R::Part const own = slots.get(of.rows, c, n);
      slots.put(of.rows, c, n, sum);
      R::join(sum, own);
    }
    if (!whole) slots.put(of.rows, c, of.begin(g), sum);
  }
};
/// One call adds to one total what is before its group of groups, which the first one has already.
template <class T, class R>
struct AddBefore {
  GroupSlots<T, R> slots;
  ScannedGroups of;

  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    auto const [n, number, c] = of.of_call(work);
    std::int64_t const its = static_cast<Number>(n) / static_cast<Number>(of.group);
    std::int64_t const g = its < of.groups ? its : of.groups - 1;
    if (n == of.begin(g)) return;
    typename R::Part sum = slots.get(of.rows, c, of.begin(g));
    R::join(sum, slots.get(of.rows, c, n));
    slots.put(of.rows, c, n, sum);
  }
};
/// One call scans one group of one column, from what is before it.
template <class T, class R>
struct ScanGroup {
  T const* src;
  GroupSlots<T, R> slots;
  ScannedGroups of;
  bool exclusive;

  template <class Number>
  KOKKOS_FUNCTION void operator()(Number work) const {
    auto const [g, number, c] = of.of_call(work);
    typename R::Part sum = slots.get(of.rows, c, of.begin(g));
    for (std::int64_t n = of.begin(g); n < of.end(g); ++n) {
      std::int64_t const at = of.rows.at(c, n);
      typename R::Part next = sum;
      R::join(next, R::load(static_cast<typename R::Element>(src[at])));
      slots.dst[at] = static_cast<T>(exclusive ? sum : next);
      sum = next;
    }
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
/// The rows of a group, of `rows` of each column.
constexpr std::int64_t scanned_group(std::int64_t columns, std::int64_t rows) {
  return std::clamp(columns * rows / scan_calls, least_group, most_group);
}

/// As scan_middle, where `scans_in_groups`; `dst` is other memory than `src`.
template <class R, class T, class Exec>
void scan_in_groups(Exec const& exec, T const* src, T* dst, T const* start, std::int64_t outer,
                    std::int64_t middle, std::int64_t inner, bool exclusive, bool reverse) {
  std::int64_t const columns = outer * inner;
  GroupSlots<T, R> const slots{dst};
  auto const groups_of = [&](std::int64_t first_step, std::int64_t count) {
    return ScannedGroups::of(columns, detail::scanned_group(columns, count),
                             {middle, inner, reverse, 0, first_step, count});
  };
  ScannedGroups const elements = groups_of(1, middle);
  kernels::launch(exec, "shardtype::scan", columns * elements.groups,
                  TotalGroup<T, R>{src, slots, elements});
  ScannedGroups levels[16];
  int top = 0;
  levels[0] = groups_of(elements.group, elements.groups);
  for (;; ++top) {
    ScannedGroups const& of = levels[top];
    kernels::launch(exec, "shardtype::scan", columns * of.groups,
                    ScanTotals<T, R>{slots, of, start});
    if (of.groups == 1) break;
    levels[top + 1] = groups_of(of.group * of.rows.step, of.groups);
  }
  while (top-- > 0)
    kernels::launch(exec, "shardtype::scan", columns * levels[top].rows.count,
                    AddBefore<T, R>{slots, levels[top]});
  kernels::launch(exec, "shardtype::scan", columns * elements.groups,
                  ScanGroup<T, R>{src, slots, elements, exclusive});
}

}  // namespace shardtype::kernels::detail
