#pragma once
/// Copies between a strided block and a packed one: transposes, slices, unpacking.

#include <bit>
#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/device_copy.hpp>
#include <shardtype/kernels/host_rows.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/row_moves.hpp>
#include <shardtype/kernels/transpose.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

namespace detail {

/// dst (packed, last dim fastest) = src (with strides). Copies tiles of the last dim and of the dim
/// with src's smallest stride, so that a transpose touches each cache line once.
template <class T, int Tile>
struct StridedCopy {
  T const* src;
  T* dst;
  Layout from;  // merged; its last dim is the inner one of dst
  Layout to;    // the same extents with packed strides
  int fast;     // the dim where src has its smallest stride
  std::int64_t tiles_fast, tiles_last;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    int const last = from.rank - 1;
    std::int64_t const t_last = work % tiles_last;
    work /= tiles_last;
    std::int64_t const t_fast = work % tiles_fast;
    work /= tiles_fast;
    T const* in = src;
    T* out = dst;
    for (int d = last; d >= 0; --d) {
      if (d == last || d == fast) continue;
      std::int64_t const at = work % from.extent[d];
      work /= from.extent[d];
      in += at * from.stride[d];
      out += at * to.stride[d];
    }
    std::int64_t const j0 = t_last * Tile;
    std::int64_t const j1 = j0 + Tile < from.extent[last] ? j0 + Tile : from.extent[last];
    if (fast == last) {
      for (std::int64_t j = j0; j < j1; ++j) out[j] = in[j * from.stride[last]];
      return;
    }
    std::int64_t const i0 = t_fast * Tile;
    std::int64_t const i1 = i0 + Tile < from.extent[fast] ? i0 + Tile : from.extent[fast];
    for (std::int64_t i = i0; i < i1; ++i)
      for (std::int64_t j = j0; j < j1; ++j)
        out[i * to.stride[fast] + j] = in[i * from.stride[fast] + j * from.stride[last]];
  }
};

}  // namespace detail

/// Copies the elements of `src` that `layout` describes to `dst`, packed, last dim fastest. Runs on
/// `exec`; no communication.
template <class T, class Exec>
void copy_packed(Exec const& exec, T const* src, Layout const& layout, T* dst) {
  std::int64_t const n = layout.elements();
  if (n == 0) return;
  Layout const from = merged(layout);
  int const last = from.rank - 1;
  if (from.stride[last] == 1) {
    if constexpr (runtime::host_reads<Exec>) {
      Layout rows = from;
      --rows.rank;
      std::int64_t const length = from.extent[last];
      if (rows.rank == 0 && !detail::passes_cache(n * static_cast<std::int64_t>(sizeof(T)))) {
        runtime::copy_on_host(dst, src, static_cast<std::size_t>(n) * sizeof(T));  // no kernel
        return;
      }
      auto const move = detail::RowMove::of(src, rows, dst, detail::row_layout(n / length, length),
                                            length, sizeof(T), false);
      kernels::launch(exec, "shardtype::copy_rows", move.calls(), move);
    } else {
      detail::copy_elements<false>(exec, "shardtype::copy_rows", src, from, dst);
    }
    return;
  }
  int fast = last;
  for (int d = 0; d < from.rank; ++d)
    if (from.stride[d] < from.stride[fast]) fast = d;
  if constexpr (runtime::host_reads<Exec>) {
    if (from.stride[last] == -1 && sizeof(T) <= 16 && std::has_single_bit(sizeof(T))) {
      Layout rows = from;
      --rows.rank;
      std::int64_t const length = from.extent[last];
      auto const move = detail::RowMove::of(src, rows, dst, detail::row_layout(n / length, length),
                                            length, sizeof(T), true);
      kernels::launch(exec, "shardtype::copy_reversed", move.calls(), move);
      return;
    }
    if (from.stride[last] == 0) {
      bool const several = last > 0;
      detail::RepeatedElements<T> const rows{{src, dst, from, several ? 2 : 1},
                                             from.extent[last],
                                             several ? from.stride[last - 1] : 0};
      kernels::launch(exec, "shardtype::copy_repeated", rows.runs.calls(), rows);
      return;
    }
    if (from.stride[fast] == 1) {
      detail::TransposeTiles<T> const tiles(src, dst, from, fast);
      kernels::launch(exec, "shardtype::transpose", tiles.calls(), tiles);
      return;
    }
  } else {
    constexpr std::int64_t least = 8;  // in thinner tiles most of a team waits
    if (fast != last && from.stride[fast] == 1 && from.extent[fast] >= least &&
        from.extent[last] >= least) {
      detail::transpose_by_teams(exec, src, from, fast, dst);
    } else {
      detail::copy_elements<false>(exec, "shardtype::copy_strided", src, from, dst);
    }
    return;
  }
  constexpr int tile = 32;
  std::int64_t const tiles_last = (from.extent[last] + tile - 1) / tile;
  std::int64_t const tiles_fast = fast == last ? 1 : (from.extent[fast] + tile - 1) / tile;
  std::int64_t work = tiles_last * tiles_fast;
  for (int d = 0; d < last; ++d)
    if (d != fast) work *= from.extent[d];
  kernels::launch(
      exec, "shardtype::copy_strided", work,
      detail::StridedCopy<T, tile>{src, dst, from, from.packed(), fast, tiles_fast, tiles_last});
}

}  // namespace shardtype::kernels
