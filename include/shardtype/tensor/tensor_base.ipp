#pragma once
/// Definitions of tensor_base.hpp.

#include <shardtype/tensor/tensor_base.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE void local_rows(MeshState const& mesh, Names const& names, Spec const& spec,
                                 std::int64_t const* extents, Rows* out) {
  AxisMap const axes = map_axes(mesh, names);
  if (!countable(extents, spec.rank))
    throw Error("E20", "the extents are more than 2^58 elements together", FailedOn::every_rank);
  for (int d = 0; d < spec.rank; ++d) {
    int const label = spec.dims[d].label;
    std::int64_t const fixed = names.label_extent[label];
    if (extents[d] < 0 || (fixed != dynamic && fixed != extents[d]))
      throw Error("E20",
                  "index " + std::string(names.label_name[label]) + " was given extent " +
                      std::to_string(extents[d]) +
                      (extents[d] < 0 ? "; an extent is not negative"
                                      : "; its type says " + std::to_string(fixed)),
                  FailedOn::every_rank);
    if (mesh.here()) out[d] = rows_of(extents[d], spec.dims[d].axes, axes.sizes, axes.coords);
  }
}

SHARDTYPE_INLINE void HeldBlock::throw_moved(char const* operation,
                                             std::source_location const& where) {
  core::RunningCall const running(operation, where);
  MeshRef::throw_moved();
}

SHARDTYPE_INLINE void throw_shared(std::string_view operation, std::source_location const& where,
                                   std::string_view what) {
  core::RunningCall const running(operation, where);
  throw Error("E21", std::string(what));
}

SHARDTYPE_INLINE void throw_not_writable(Buffer const& memory, std::string_view operation,
                                         std::source_location const& where) {
  throw_shared(operation, where,
               memory.read_only()
                   ? "the tensor's memory is const memory that it wraps; write to a.clone() instead"
                   : "the tensor's memory is shared with another tensor or operation; write to "
                     "a.clone() instead");
}

}  // namespace shardtype::detail
