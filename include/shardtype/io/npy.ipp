#pragma once
/// Definitions of npy.hpp.

#include <shardtype/io/npy.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE void agree_on_file(MeshState& mesh, std::string const& what,
                                    std::string const& path) {
  if (mesh.agreement().begin_step()) mesh.agreement().meet(what + " " + path);
}

SHARDTYPE_INLINE io::NpyAccess file_access() {
  io::NpyAccess access;
  access.collective = !run_time.yield_while_waiting;
  return access;
}

}  // namespace shardtype::detail
