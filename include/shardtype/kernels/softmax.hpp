#pragma once
/// Combines elements with the total of their row: softmax.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/layout.hpp>
#include <shardtype/kernels/norms.hpp>

namespace shardtype::kernels {

namespace detail {

/// One work item computes a tile of the last dim.
template <class T, bool Log, int Tile>
struct Normalize {
  using Total = Peak<wide_t<T>>;
  using Value = shardtype::detail::computed_t<T>;
  T const* src;
  T* dst;
  Total const* totals;
  Layout rows;  ///< without the last dim; strides are those of the totals, 0 along rows
  std::int64_t length, stride, tiles;

  /// The value that is subtracted from an element, and the factor of its exponential (or a second
  /// value to subtract). Infinities in a row, or only -inf, give NaN.
  struct Row {
    Value max, by;
    KOKKOS_FUNCTION explicit Row(Total const& t) : max(static_cast<Value>(t.max)) {
      auto const sum = t.sum + (t.max - t.max);
      by = static_cast<Value>(Log ? math::log(sum) : decltype(sum)(1) / sum);
    }
    KOKKOS_FUNCTION T of(T const& x) const {
      if constexpr (Log) {
        return static_cast<T>((x - max) - by);
      } else {
        return static_cast<T>(math::exp(x - max) * by);
      }
    }
  };

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t rest = work / tiles;
    std::int64_t const begin = work % tiles * Tile;
    std::int64_t const end = begin + Tile < length ? begin + Tile : length;
    T const* const in = src + rest * length;
    T* const out = dst + rest * length;
    std::int64_t at = 0;
    for (int d = rows.rank - 1; d >= 0; --d) {
      at += rest % rows.extent[d] * rows.stride[d];
      rest /= rows.extent[d];
    }
    if (stride == 0) {
      Row const row(totals[at]);
      for (std::int64_t j = begin; j < end; ++j) out[j] = row.of(in[j]);
    } else {
      for (std::int64_t j = begin; j < end; ++j) out[j] = Row(totals[at + j * stride]).of(in[j]);
    }
  }
};

}  // namespace detail

/// `dst` = softmax of `src`, both packed; `Log`: its logarithm. `totals` are those of the rows;
/// `rows` has the extents of the block with the strides of the totals, which are 0 along the dims
/// of a row. Runs on `exec`.
template <bool Log, class T, class Exec>
void normalize(Exec const& exec, T const* src, T* dst, Peak<wide_t<T>> const* totals, Layout rows) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  std::int64_t const n = rows.elements();
  if (n == 0) return;
  rows = merged(rows);
  int const last = --rows.rank;
  std::int64_t const length = rows.extent[last];
  constexpr bool host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Exec::memory_space>::accessible;
  constexpr int tile = host ? 4096 : 1;
  std::int64_t const tiles = (length + tile - 1) / tile;
  Kokkos::parallel_for(
      "shardtype::softmax", Policy(exec, 0, n / length * tiles),
      detail::Normalize<T, Log, tile>{src, dst, totals, rows, length, rows.stride[last], tiles});
}

}  // namespace shardtype::kernels
