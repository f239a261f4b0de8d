#pragma once
/// Definitions of wrap.hpp.

#include <shardtype/tensor/wrap.hpp>

namespace shardtype::detail {

/// The calling rank, which belongs to the mesh, as a rank of the job.
SHARDTYPE_INLINE std::string this_rank(MeshState const& mesh) {
  std::int64_t k = 0;
  for (std::size_t x = 0; x < mesh.axes().size(); ++x)
    k = k * mesh.axes()[x].size + mesh.coords()[x];
  return std::to_string(mesh.job_ranks()[static_cast<std::size_t>(k)]);
}

SHARDTYPE_INLINE void throw_not_a_block(MeshState const& mesh, Names const& names, Spec const& spec,
                                        Rows const* rows, std::int64_t needed, std::size_t given) {
  std::string block;
  for (int d = 0; d < spec.rank; ++d)
    block += (d == 0 ? "" : " x ") + std::to_string(rows[d].size()) + " of " +
             std::string(names.label_name[spec.dims[d].label]);
  throw Error("E22", "wrap was given " + std::to_string(given) + " elements on rank " +
                         this_rank(mesh) + ", whose block has " + std::to_string(needed) + ": " +
                         block);
}

SHARDTYPE_INLINE void throw_unaligned(MeshState const& mesh, void const* data,
                                      std::size_t alignment) {
  throw Error("E22", "wrap was given memory on rank " + this_rank(mesh) + " that begins " +
                         std::to_string(reinterpret_cast<std::uintptr_t>(data) % alignment) +
                         " bytes after a multiple of " + std::to_string(alignment) +
                         ", the alignment of its elements");
}

}  // namespace shardtype::detail
