#pragma once
/// Copies between a block and a part of another block: rows of one length, at different distances.

#include <cstdint>

#include <Kokkos_Core.hpp>

namespace shardtype::kernels {

namespace detail {

/// One work item copies one piece of a row, so that few long rows occupy as many threads as many
/// short rows.
template <class T>
struct PitchedCopy {
  T const* src;
  T* dst;
  std::int64_t src_pitch, dst_pitch, length, pieces, piece;

  KOKKOS_FUNCTION void operator()(std::int64_t work) const {
    std::int64_t const row = work / pieces;
    std::int64_t const from = work % pieces * piece;
    std::int64_t const to = from + piece < length ? from + piece : length;
    T const* const in = src + row * src_pitch;
    T* const out = dst + row * dst_pitch;
    for (std::int64_t k = from; k < to; ++k) out[k] = in[k];
  }
};

}  // namespace detail

/// dst[r * dst_pitch + k] = src[r * src_pitch + k] for r in [0, rows), k in [0, length).
template <class T, class Exec>
void copy_pitched(Exec const& exec, T const* src, std::int64_t src_pitch, T* dst,
                  std::int64_t dst_pitch, std::int64_t rows, std::int64_t length) {
  if (rows == 0 || length == 0) return;
  constexpr std::int64_t piece = 4096;
  std::int64_t const pieces = (length + piece - 1) / piece;
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(
      "shardtype::copy_pitched", Policy(exec, 0, rows * pieces),
      detail::PitchedCopy<T>{src, dst, src_pitch, dst_pitch, length, pieces, piece});
}

}  // namespace shardtype::kernels
