#pragma once
/// The indices that a rank holds, for devices.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/core/block.hpp>

namespace shardtype::kernels {

/// As `r[local]`.
KOKKOS_INLINE_FUNCTION std::int64_t global_index(Rows const& r, std::int64_t local) {
  return r.begin + (r.stride == 0 ? local : local / r.run * r.stride + local % r.run);
}

}  // namespace shardtype::kernels
