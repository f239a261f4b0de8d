#pragma once
/// Memory layout of a local block, for kernels.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/core/layout.hpp>

namespace shardtype::kernels {

using core::cross_section;
using core::inner_length;
using core::Layout;
using core::lies_in_segments;
using core::merged;
using core::outer_length;

/// The offset of element `k`, counted row by row.
KOKKOS_INLINE_FUNCTION std::int64_t offset_of(Layout const& l, std::int64_t k) {
  if (l.rank == 1) return k * l.stride[0];  // by far the most frequent case, and divisions are slow
  std::int64_t at = 0;
  for (int d = l.rank - 1; d >= 0; --d) {
    at += k % l.extent[d] * l.stride[d];
    k /= l.extent[d];
  }
  return at;
}
/// The same with divisions of 32 bits, for devices: no index of a dim but the first has more.
KOKKOS_INLINE_FUNCTION std::int64_t offset_of(Layout const& l, std::uint32_t k) {
  std::int64_t at = 0;
  for (int d = l.rank - 1; d > 0; --d) {
    auto const extent = static_cast<std::uint32_t>(l.extent[d]);
    std::uint32_t const next = k / extent;
    at += static_cast<std::int64_t>(k - next * extent) * l.stride[d];
    k = next;
  }
  return l.rank == 0 ? at : at + static_cast<std::int64_t>(k) * l.stride[0];
}

}  // namespace shardtype::kernels
