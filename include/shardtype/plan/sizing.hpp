#pragma once
/// Extents, axis sizes and element size of values, and the blocks they determine.

#include <cstdint>

#include <shardtype/core/block.hpp>

namespace shardtype::planning {

/// The extents, axis sizes and element size of a plan.
struct Sizing {
  Extents extents{};
  Sizes sizes{};
  std::int64_t element_bytes = 1;
  friend constexpr bool operator==(Sizing const&, Sizing const&) = default;
};

/// The range of a dim of `s` that one rank holds; not for a block-cyclic dim.
constexpr Range block_of(Spec const& s, int dim, Sizing const& z, Coords const& at) {
  return block({0, z.extents[s.dims[dim].label]}, s.dims[dim].axes, z.sizes, at);
}
/// The indices of any dim of `s` that one rank holds, and their number.
constexpr Rows rows_of(Spec const& s, int dim, Sizing const& z, Coords const& at) {
  return rows_of(z.extents[s.dims[dim].label], s.dims[dim].axes, z.sizes, at);
}
constexpr std::int64_t held(Spec const& s, int dim, Sizing const& z, Coords const& at) {
  return held(z.extents[s.dims[dim].label], s.dims[dim].axes, z.sizes, at);
}

}  // namespace shardtype::planning
