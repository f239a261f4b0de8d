#pragma once
/// The indices that a rank holds, for devices.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/core/block.hpp>
#include <shardtype/kernels/layout.hpp>

namespace shardtype::kernels {

/// The global index of local index `local`, `r[local]`, for devices.
KOKKOS_INLINE_FUNCTION std::int64_t global_index(Rows const& r, std::int64_t local) {
  return r.begin + (r.stride == 0 ? local : local / r.run * r.stride + local % r.run);
}

/// The offset in a whole tensor, whose strides `block` has, of element `k` of the first `rank` dims
/// of a block that holds these rows of them.
KOKKOS_INLINE_FUNCTION std::int64_t global_offset(Layout const& block, int rank, Rows const* rows,
                                                  std::int64_t k) {
  std::int64_t at = 0;
  for (int d = rank - 1; d >= 0; --d) {
    at += global_index(rows[d], k % block.extent[d]) * block.stride[d];
    k /= block.extent[d];
  }
  return at;
}

}  // namespace shardtype::kernels
