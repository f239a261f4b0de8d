#pragma once
/// The elements of a block on one side of a diagonal of the global tensor.

#include <algorithm>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/rows.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

/// A dim of a packed block, with the global indices that the rank holds.
struct HeldDim {
  Rows rows;
  std::int64_t inner;  ///< elements between consecutive indices
};

namespace detail {

/// One element per work item.
template <class T>
struct KeepTriangle {
  T const* src;
  T* dst;
  HeldDim i, j;
  std::int64_t diagonal;
  bool upper;

  KOKKOS_FUNCTION void operator()(std::int64_t n) const {
    std::int64_t const at = global_index(j.rows, n / j.inner % j.rows.count) -
                            global_index(i.rows, n / i.inner % i.rows.count);
    dst[n] = (upper ? at >= diagonal : at <= diagonal) ? src[n] : T{};
  }
};

/// Host: one work item handles one run, of which it keeps a begin or an end. The run is along J or
/// I, whichever is innermost apart from dims of extent 1.
template <class T>
struct KeepTriangleInRuns {
  T const* src;
  T* dst;
  HeldDim i, j;
  std::int64_t length, diagonal;
  bool upper;

  void operator()(std::int64_t run) const {
    std::int64_t const first = run * length;
    std::int64_t from = 0;
    std::int64_t to = length;
    if (j.inner == 1) {
      std::int64_t const column = i.rows[first / i.inner % i.rows.count] + diagonal;
      if (upper)
        from = j.rows.below(column);
      else
        to = j.rows.below(column + 1);
    } else if (i.inner == 1) {
      std::int64_t const row = j.rows[first / j.inner % j.rows.count] - diagonal;
      if (upper)
        to = i.rows.below(row + 1);
      else
        from = i.rows.below(row);
    } else {
      std::int64_t const at =
          j.rows[first / j.inner % j.rows.count] - i.rows[first / i.inner % i.rows.count];
      if (upper ? at < diagonal : at > diagonal) to = 0;
    }
    std::fill(dst + first, dst + first + from, T{});
    std::copy(src + first + from, src + first + to, dst + first + from);
    std::fill(dst + first + to, dst + first + length, T{});
  }
};

}  // namespace detail

/// `dst` = `src`, packed with layout `l`, where the index along `j` minus the index along `i` is at
/// most `diagonal` (`upper`: at least); zero elsewhere.
template <class T, class Exec>
void keep_triangle(Exec const& exec, T const* src, T* dst, Layout const& l, HeldDim const& i,
                   HeldDim const& j, std::int64_t diagonal, bool upper) {
  std::int64_t const n = l.elements();
  if (n == 0) return;
  std::int64_t const bounded = std::clamp(diagonal, -max_elements, max_elements);
  if constexpr (runtime::host_reads<Exec>) {
    std::int64_t const length = j.inner == 1   ? j.rows.count
                                : i.inner == 1 ? i.rows.count
                                               : l.extent[l.rank - 1];
    kernels::launch(exec, "shardtype::triangle", n / length,
                    detail::KeepTriangleInRuns<T>{src, dst, i, j, length, bounded, upper});
  } else {
    kernels::launch(exec, "shardtype::triangle", n,
                    detail::KeepTriangle<T>{src, dst, i, j, bounded, upper});
  }
}

}  // namespace shardtype::kernels
