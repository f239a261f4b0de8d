#pragma once
/// Definitions of local.hpp.

#include <shardtype/manual/local.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE MeshRef const& mesh_around(char const* what) {
  if (run_time.manual_mesh == nullptr)
    throw Error("E63", std::string(what) + " works inside of shard_map only", FailedOn::every_rank);
  return *run_time.manual_mesh;
}

}  // namespace shardtype::detail
