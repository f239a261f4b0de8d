#pragma once
/// The ranks that differ along some axes alone: their communicator, and the blocks they hold.

#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/plan.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::ops {

/// The communicator of the group that spans `axes`, first axis major.
inline Comm& group_of(MeshState& mesh, AxisMap const& map, AxisList const& axes) {
  int positions[max_axes];
  for (int k = 0; k < axes.size; ++k) positions[k] = map.position[axes[k]];
  return mesh.group(positions, axes.size);
}

/// Memory that the ranks of that group share, if they can.
inline SharedWindow& window_of(MeshState& mesh, AxisMap const& map, AxisList const& axes) {
  int positions[max_axes];
  for (int k = 0; k < axes.size; ++k) positions[k] = map.position[axes[k]];
  return mesh.window(positions, axes.size);
}

/// The block along `dim` of sharding `spec` at each member of that group, in its order, in `out`.
inline detail::List<Range>& member_blocks(Spec const& spec, int dim, Sizing const& sizing,
                                          AxisMap const& map, AxisList const& axes,
                                          detail::List<Range>& out) {
  std::int64_t const p = sizing.sizes.product(axes);
  out.resize(static_cast<std::size_t>(p));
  for (std::int64_t g = 0; g < p; ++g)
    out[static_cast<std::size_t>(g)] =
        block_of(spec, dim, sizing, member(axes, sizing.sizes, map.coords, g));
  return out;
}

/// The same for a dim that may be dealt out in turns.
inline void member_rows(Spec const& spec, int dim, Sizing const& sizing, AxisMap const& map,
                        AxisList const& axes, detail::List<Rows>& out) {
  std::int64_t const p = sizing.sizes.product(axes);
  out.resize(static_cast<std::size_t>(p));
  for (std::int64_t g = 0; g < p; ++g)
    out[static_cast<std::size_t>(g)] =
        rows_of(spec, dim, sizing, member(axes, sizing.sizes, map.coords, g));
}

/// The calling rank's number in that group.
inline std::int64_t place_in_group(AxisMap const& map, AxisList const& axes) {
  std::int64_t at = 0;
  for (int k = 0; k < axes.size; ++k) at = at * map.sizes[axes[k]] + map.coords[axes[k]];
  return at;
}

}  // namespace shardtype::ops
