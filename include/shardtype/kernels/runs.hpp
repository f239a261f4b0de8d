#pragma once
/// Packing if a rank's part of a dim consists of many runs of indices: as kernels/segments.hpp,
/// with a table of runs instead of one segment per message.

#include <cstdint>
#include <cstring>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/segments.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

/// Runs of a dim in the order of their messages, in memory that the kernel can read. Run r begins
/// at index `row[r]` of the block and has `at[r + 1] - at[r]` indices; message m has the runs from
/// `first[m]` to `first[m + 1]`.
struct RunTable {
  std::int64_t const* at = nullptr;
  std::int64_t const* row = nullptr;
  std::int64_t const* first = nullptr;
  std::int64_t messages = 0;
  std::int64_t runs = 0;
  std::int64_t rows = 0;  ///< of all runs

  /// The message of run `r`: the last one that begins at or before it.
  KOKKOS_FUNCTION std::int64_t message_of(std::int64_t r) const {
    std::int64_t low = 0;
    std::int64_t high = messages;
    while (high - low > 1) {
      std::int64_t const middle = (low + high) / 2;
      (first[middle] <= r ? low : high) = middle;
    }
    return low;
  }
};

namespace detail {

template <class T, Packing Way>
struct Runs {
  T const* src;
  T* dst;
  RunTable table;
  std::int64_t outer, total, inner;

  /// Calls `move(to, from, elements)` for run `r` of message `m`, at outer position `o`.
  template <class Move>
  KOKKOS_FUNCTION void run(std::int64_t r, std::int64_t m, std::int64_t o, Move move) const {
    std::int64_t const begin = table.at[table.first[m]];
    std::int64_t const rows = table.at[table.first[m + 1]] - begin;
    std::int64_t const block = (o * total + table.row[r]) * inner;
    std::int64_t const message = (begin * outer + o * rows + table.at[r] - begin) * inner;
    move(dst + (Way == Packing::split ? message : block),
         src + (Way == Packing::split ? block : message), (table.at[r + 1] - table.at[r]) * inner);
  }
};

/// Device: one call moves one element of the runs.
template <class T, Packing Way>
struct MoveOfRun {
  Runs<T, Way> of;
  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const i = work % of.inner;
    std::int64_t const n = work / of.inner % of.table.rows;  // of the rows of all runs
    std::int64_t const o = work / of.inner / of.table.rows;
    std::int64_t low = 0, high = of.table.runs;  // the last run that begins at or before n
    while (high - low > 1) {
      std::int64_t const middle = (low + high) / 2;
      (of.table.at[middle] <= n ? low : high) = middle;
    }
    std::int64_t const at = (n - of.table.at[low]) * of.inner + i;
    of.run(low, of.table.message_of(low), o,
           [at](T* to, T const* from, std::int64_t) { to[at] = from[at]; });
  }
};

/// Host: one call moves some consecutive runs at one outer position.
template <class T, Packing Way>
struct MoveRunsInARow {
  Runs<T, Way> of;
  std::int64_t each;    ///< runs per call
  std::int64_t pieces;  ///< calls per outer position

  void operator()(std::int64_t work) const {
    std::int64_t r = work % pieces * each;
    std::int64_t const end = r + each < of.table.runs ? r + each : of.table.runs;
    std::int64_t m = of.table.message_of(r);
    for (; r < end; ++r) {
      while (of.table.first[m + 1] <= r) ++m;
      of.run(r, m, work / pieces, [](T* to, T const* from, std::int64_t n) {
        if (n < 16) {
          for (std::int64_t k = 0; k < n; ++k) to[k] = from[k];
        } else {
          std::memcpy(static_cast<void*>(to), from, static_cast<std::size_t>(n) * sizeof(T));
        }
      });
    }
  }
};

}  // namespace detail

/// split: copies the runs of the middle dim of `src` [outer, total, inner] to consecutive messages
/// in `dst`; join: the inverse, which does not change indices of `dst` that are in no run.
template <Packing Way, class T, class Exec>
void move_runs(Exec const& exec, T const* src, T* dst, RunTable const& table, std::int64_t outer,
               std::int64_t total, std::int64_t inner) {
  if (outer * inner * table.runs == 0) return;
  detail::Runs<T, Way> const of{src, dst, table, outer, total, inner};
  if constexpr (runtime::host_reads<Exec>) {
    std::int64_t const bytes = total / table.runs * inner * static_cast<std::int64_t>(sizeof(T));
    std::int64_t const each = (std::int64_t{1} << 16) / (bytes + 1) + 1;
    std::int64_t const pieces = (table.runs + each - 1) / each;
    kernels::launch(exec, "shardtype::runs", outer * pieces,
                    detail::MoveRunsInARow<T, Way>{of, each, pieces});
  } else {
    kernels::launch(exec, "shardtype::runs", outer * table.rows * inner,
                    detail::MoveOfRun<T, Way>{of});
  }
}

}  // namespace shardtype::kernels
