#pragma once
/// Stable sorting of many rows, or of few long ones, by merging. One call sorts one run; then runs
/// are merged in pairs, where one call computes one piece of a merged run and finds its begin
/// itself. On the host, short rows are sorted by a network and long ones by bytes instead.

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/radix_sort.hpp>
#include <shardtype/kernels/sort_network.hpp>
#include <shardtype/plan/sort_plan.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/pool.hpp>

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
#if __has_include(<cub/device/device_segmented_sort.cuh>)
#define SHARDTYPE_HAVE_CUB 1
#endif
#endif

namespace shardtype::kernels {

/// An element and its position in its row.
template <class T>
struct Keyed {
  T key;
  std::int64_t place;
};

namespace detail {

template <class T>
KOKKOS_FUNCTION T key_of(T const& x) {
  return x;
}
template <class T>
KOKKOS_FUNCTION T key_of(Keyed<T> const& x) {
  return x.key;
}
template <class Item>
struct MakeItem {
  KOKKOS_FUNCTION static Item make(Item const& x, std::int64_t) { return x; }
};
template <class T>
struct MakeItem<Keyed<T>> {
  KOKKOS_FUNCTION static Keyed<T> make(T const& x, std::int64_t place) { return {x, place}; }
};

/// Whether one element is sorted before another; NaN is last, in both orders.
template <class Item>
struct Before {
  bool descending;
  KOKKOS_FUNCTION bool operator()(Item const& a, Item const& b) const {
    auto const x = detail::key_of(a);
    auto const y = detail::key_of(b);
    bool const first = descending ? y < x : x < y;
    return first || (y != y && x == x);
  }
};

/// Merges `n` elements from `a` [na] at `i` and `b` [nb] at `j`; of equal elements those of `a`
/// first.
template <class Item>
KOKKOS_FUNCTION void merge(Before<Item> before, Item const* a, std::int64_t i, std::int64_t na,
                           Item const* b, std::int64_t j, std::int64_t nb, Item* to,
                           std::int64_t n) {
  std::int64_t k = 0;
  for (; k < n && i < na && j < nb; ++k) {
    bool const second = before(b[j], a[i]);
    to[k] = second ? b[j] : a[i];
    j += second ? 1 : 0;
    i += second ? 0 : 1;
  }
  for (; k < n && i < na; ++k) to[k] = a[i++];
  for (; k < n; ++k) to[k] = b[j++];
}

/// Number of elements from `a` among the first `n` of `a` and `b` merged.
template <class Item>
KOKKOS_FUNCTION std::int64_t taken_from_first(Before<Item> before, Item const* a, std::int64_t na,
                                              Item const* b, std::int64_t nb, std::int64_t n) {
  std::int64_t low = n > nb ? n - nb : 0;
  std::int64_t high = n < na ? n : na;
  while (low < high) {
    std::int64_t const middle = low + (high - low) / 2;
    if (before(b[n - 1 - middle], a[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

using planning::insertion;

/// One call sorts one run between two buffers: the result is in `a` after an even number of passes.
template <class Item, class T>
struct SortRuns {
  T const* in;
  Item* a;
  Item* b;
  std::int64_t n, run, runs;
  int passes;
  Before<Item> before;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const row = work / runs * n;
    std::int64_t const begin = work % runs * run;
    std::int64_t const end = begin + run < n ? begin + run : n;
    Item* from = a + row;
    Item* to = b + row;
    for (std::int64_t s = begin; s < end; s += insertion)
      for (std::int64_t k = s; k < end && k < s + insertion; ++k) {
        Item const x = MakeItem<Item>::make(in[row + k], k);
        std::int64_t at = k;
        for (; at > s && before(x, from[at - 1]); --at) from[at] = from[at - 1];
        from[at] = x;
      }
    std::int64_t width = insertion;
    for (int p = 0; p < passes; ++p, width *= 2) {
      for (std::int64_t s = begin; s < end; s += 2 * width) {
        std::int64_t const middle = s + width < end ? s + width : end;
        std::int64_t const last = s + 2 * width < end ? s + 2 * width : end;
        detail::merge(before, from + s, 0, middle - s, from + middle, 0, last - middle, to + s,
                      last - s);
      }
      Item* const other = from;
      from = to;
      to = other;
    }
  }
};

/// One call selects the first `keep` of one run, at its begin.
template <class Item, class T>
struct SelectRuns {
  T const* in;
  Item* a;
  std::int64_t n, run, runs, keep;
  Before<Item> before;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const row = work / runs * n;
    std::int64_t const begin = work % runs * run;
    std::int64_t const end = begin + run < n ? begin + run : n;
    Item* const best = a + row + begin;
    std::int64_t held = 0;
    for (std::int64_t k = begin; k < end && keep > 0; ++k) {
      Item const x = MakeItem<Item>::make(in[row + k], k);
      if (held == keep && !before(x, best[keep - 1])) continue;
      std::int64_t at = held < keep ? held++ : keep - 1;
      for (; at > 0 && before(x, best[at - 1]); --at) best[at] = best[at - 1];
      best[at] = x;
    }
  }
};

/// One call computes one piece of a merged run; only the first `keep` elements of each merged run
/// are computed.
template <class Item>
struct MergeRuns {
  Item const* from;
  Item* to;
  std::int64_t n, width, piece, pieces, keep;
  Before<Item> before;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const row = work / pieces * n;
    std::int64_t const begin = work % pieces * piece;
    std::int64_t const s = begin / (2 * width) * (2 * width);
    std::int64_t const middle = s + width < n ? s + width : n;
    std::int64_t const last = s + 2 * width < n ? s + 2 * width : n;
    std::int64_t const first = begin - s;
    std::int64_t end = begin + piece < last ? begin + piece - s : last - s;
    if (end > keep) end = keep;
    if (first >= end) return;
    Item const* const a = from + row + s;
    Item const* const b = from + row + middle;
    std::int64_t const i = detail::taken_from_first(before, a, middle - s, b, last - middle, first);
    detail::merge(before, a, i, middle - s, b, first - i, last - middle, to + row + begin,
                  end - first);
  }
};

/// Device: lists of the first `keep` elements of consecutive parts of rows, packed: those of a row
/// one behind the other, and its last list may be shorter.
struct KeptLists {
  std::int64_t n, width, lists, keep;  ///< of a row; `width` elements make a list

  KOKKOS_FUNCTION std::int64_t place(std::int64_t row, std::int64_t list) const {
    return (row * lists + list) * keep;
  }
  KOKKOS_FUNCTION std::int64_t length(std::int64_t list) const {
    std::int64_t const left = n - list * width;
    std::int64_t const of = left < width ? left : width;
    return of < 0 ? 0 : of < keep ? of : keep;
  }
  /// The lists of twice as many elements each.
  KeptLists merged() const { return {n, 2 * width, (lists + 1) / 2, keep}; }
};

/// Device: one call makes the list of one run.
template <class Item, class T>
struct SelectLists {
  T const* in;
  Item* to;
  KeptLists of;
  Before<Item> before;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const row = work / of.lists, list = work % of.lists;
    std::int64_t const begin = list * of.width;
    std::int64_t const end = begin + of.width < of.n ? begin + of.width : of.n;
    Item* const best = to + of.place(row, list);
    std::int64_t held = 0;
    for (std::int64_t k = begin; k < end && of.keep > 0; ++k) {
      Item const x = MakeItem<Item>::make(in[row * of.n + k], k);
      if (held == of.keep && !before(x, best[of.keep - 1])) continue;
      std::int64_t at = held < of.keep ? held++ : of.keep - 1;
      for (; at > 0 && before(x, best[at - 1]); --at) best[at] = best[at - 1];
      best[at] = x;
    }
  }
};

/// Device: one call merges one piece of two lists of `of`.
template <class Item>
struct MergeLists {
  static constexpr std::int64_t piece = 8;
  Item const* from;
  Item* to;
  KeptLists of;
  std::int64_t pieces;  ///< of a merged list
  Before<Item> before;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    KeptLists const made{of.n, 2 * of.width, (of.lists + 1) / 2, of.keep};
    std::int64_t const first = work % pieces * piece;
    work /= pieces;
    std::int64_t const row = work / made.lists, list = work % made.lists;
    std::int64_t const all = made.length(list);
    std::int64_t const end = first + piece < all ? first + piece : all;
    if (first >= end) return;
    Item const* const a = from + of.place(row, 2 * list);
    std::int64_t const na = of.length(2 * list), nb = of.length(2 * list + 1);
    Item const* const b = a + of.keep;
    std::int64_t const i = detail::taken_from_first(before, a, na, b, nb, first);
    detail::merge(before, a, i, na, b, first - i, nb, to + made.place(row, list) + first,
                  end - first);
  }
};

/// Separates the first `keep` of each row, of `n` elements with those behind them, into keys and
/// positions.
template <class T>
struct Apart {
  Keyed<T> const* from;
  T* keys;  ///< or null
  std::int64_t* places;
  std::int64_t n, keep, begin;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    Keyed<T> const& x = from[work / keep * n + work % keep];
    if (keys != nullptr) keys[work] = x.key;
    places[work] = begin + x.place;
  }
};

}  // namespace detail

using planning::SortPlan;

/// The plan for kernels on `Exec`.
template <class Exec>
SortPlan plan_sort(std::int64_t rows, std::int64_t n, std::int64_t keep) {
  return planning::plan_sort(rows, n, keep, runtime::host_reads<Exec>);
}

namespace detail {

/// Device: the first `plan.keep` of each row, at the begin of `a`, packed. The lists take at most
/// half of it, so that they are merged from one half to the other.
template <class Item, class T, class Exec>
void select_packed(Exec const& exec, SortPlan const& plan, T const* in, Item* a,
                   Before<Item> const& before) {
  KeptLists of{plan.n, plan.run, (plan.n + plan.run - 1) / plan.run, plan.keep};
  Item* const half = a + of.place(plan.rows, 0);
  int merges = 0;
  for (std::int64_t k = of.lists; k > 1; k = (k + 1) / 2) ++merges;
  bool in_first = merges % 2 == 0;
  kernels::launch(exec, "shardtype::select_lists", plan.rows * of.lists,
                  SelectLists<Item, T>{in, in_first ? a : half, of, before});
  using Merge = MergeLists<Item>;
  std::int64_t const pieces = (plan.keep + Merge::piece - 1) / Merge::piece;
  for (; of.lists > 1; of = of.merged(), in_first = !in_first)
    kernels::launch(exec, "shardtype::merge_lists", plan.rows * of.merged().lists * pieces,
                    Merge{in_first ? a : half, in_first ? half : a, of, pieces, before});
}

/// Whether kernels on `Exec` may sort by CUB.
template <class Exec>
inline constexpr bool has_cub = false;
#ifdef SHARDTYPE_HAVE_CUB
template <>
inline constexpr bool has_cub<Kokkos::Cuda> = true;
#endif

}  // namespace detail

/// As sort_rows by CUB (kernels/cub_sort.hpp), with memory of `pool`; whether it sorts such rows.
template <class Item, class T, class Exec>
bool sort_rows_by_cub(Exec const& exec, Pool& pool, SortPlan const& plan, T const* in, Item* a,
                      Item* b, bool descending);

/// Sorts each row of `in` [rows, n], stably, so that the first `plan.keep` are correct, using
/// buffers `a` and `b` of the same size; `plan.ends_in_first()` tells which one has the result.
/// Given a `pool`, by CUB where it is. Runs on `exec`.
template <class Item, class T, class Exec>
void sort_rows(Exec const& exec, SortPlan const& plan, T const* in, Item* a, Item* b,
               bool descending, [[maybe_unused]] Pool* pool = nullptr) {
  if (plan.rows * plan.n == 0) return;
  if constexpr (detail::has_cub<Exec>)
    if (pool != nullptr && kernels::sort_rows_by_cub(exec, *pool, plan, in, a, b, descending))
      return;
  detail::Before<Item> const before{descending};
  std::int64_t const runs = (plan.n + plan.run - 1) / plan.run;
  if constexpr (detail::has_sort_key<T> && runtime::host_reads<Exec>) {
    using Network = detail::NetworkRows<Item, T>;
    if constexpr (Network::takes(1)) {
      if (!plan.selects && Network::takes(plan.n)) {
        Network const network{in,        plan.ends_in_first() ? a : b, plan.rows, plan.n, plan.keep,
                              descending};
        kernels::launch(exec, "shardtype::sort_network", network.calls(), network);
        return;
      }
    }
    if (!plan.selects && detail::sorts_by_bytes<T, Exec>(plan.rows, plan.n)) {
      bool const in_a = plan.ends_in_first();
      if constexpr (std::is_same_v<Item, Keyed<T>>) {
        kernels::launch(exec, "shardtype::radix_rows", plan.rows,
                        detail::RadixRows<Item, T>{in, in_a ? a : b, in_a ? b : a, plan.n,
                                                   plan.keep, descending});
      } else {
        kernels::launch(exec, "shardtype::radix_values", plan.rows,
                        detail::RadixValues<T>{in, in_a ? a : b, in_a ? b : a, plan.n, descending});
      }
      return;
    }
  }
  if constexpr (!runtime::host_reads<Exec>)
    if (plan.packs) return detail::select_packed<Item>(exec, plan, in, a, before);
  if (plan.selects) {
    kernels::launch(exec, "shardtype::select_runs", plan.rows * runs,
                    detail::SelectRuns<Item, T>{in, a, plan.n, plan.run, runs, plan.keep, before});
  } else {
    kernels::launch(
        exec, "shardtype::sort_runs", plan.rows * runs,
        detail::SortRuns<Item, T>{in, a, b, plan.n, plan.run, runs, plan.in_runs, before});
  }
  bool in_first = plan.in_runs % 2 == 0;
  for (std::int64_t width = plan.run; width < plan.n; width *= 2, in_first = !in_first)
    kernels::launch(exec, "shardtype::merge_runs", plan.rows * runs,
                    detail::MergeRuns<Item>{in_first ? a : b, in_first ? b : a, plan.n, width,
                                            plan.run, runs, plan.keep, before});
}

/// Writes the first of each row of `from` [rows, n] to keys (unless null) and positions, counted
/// from `begin` on, [rows, keep].
template <class T, class Exec>
void take_apart(Exec const& exec, SortPlan const& plan, Keyed<T> const* from, T* keys,
                std::int64_t* places, std::int64_t begin = 0) {
  if (plan.rows * plan.keep == 0) return;
  kernels::launch(exec, "shardtype::take_apart", plan.rows * plan.keep,
                  detail::Apart<T>{from, keys, places, plan.pitch(), plan.keep, begin});
}

}  // namespace shardtype::kernels
