#pragma once
/// Definitions of shard_map.hpp.

#include <shardtype/manual/shard_map.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE void agree_on_block(MeshState& mesh, std::int64_t const* extents, int rank) {
  if (!mesh.here() || !mesh.agreement().begin_step()) return;
  std::string text = "shard_map, whose function returned a block of ";
  for (int d = 0; d < rank; ++d) text += (d == 0 ? "" : " x ") + std::to_string(extents[d]);
  mesh.agreement().meet(rank == 0 ? text + "one element" : text);
}

}  // namespace shardtype::detail
