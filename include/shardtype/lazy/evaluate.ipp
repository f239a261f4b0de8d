#pragma once
/// Definitions of evaluate.hpp.

#include <shardtype/lazy/evaluate.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE RecordedProgram program_for(RecordedProgram p, ProgramNames const& names,
                                             MeshRef const& mesh, AxisMap const& axes,
                                             List<execute::ProgramPart> const& parts) {
  p.sizes = axes.sizes;
  for (int k = 0; k < p.size; ++k) {
    ProgramNode const& n = p.nodes.at[k];
    if (int const l = p.infer_relabelled(k); l >= 0)
      throw Error("E24",
                  "index " + std::string(names.label[l].name) +
                      " is given to a dim of another extent by relabel; it has extent " +
                      std::to_string(p.extents.at[l]),
                  FailedOn::every_rank);
    bool const sets =
        n.making == Making::operation || n.making == Making::result || n.own_call >= 0;
    if (n.making != Making::given && !sets) continue;
    execute::ProgramPart const& part = parts[static_cast<std::size_t>(n.origin)];
    if (sets) {
      part.set_extents(part.part, p, k, names.label.data());
      continue;
    }
    check_one_mesh(mesh, *part.mesh);
    for (int d = 0; d < n.rank; ++d) {
      std::int64_t& known = p.extents.edit(n.labels[d]);
      if (known != dynamic && known != part.extents[d])
        throw Error("E24",
                    "index " + std::string(names.label[n.labels[d]].name) + " has extent " +
                        std::to_string(part.extents[d]) +
                        " in one tensor of the expression, elsewhere " + std::to_string(known),
                    FailedOn::every_rank);
      known = part.extents[d];
    }
  }
  return p;
}

SHARDTYPE_INLINE AxisMap program_axes(ProgramNames const& program, MeshRef const& mesh) {
  Names names;
  names.axes = program.axes;
  for (int x = 0; x < names.axes; ++x) {
    names.axis_id[x] = program.axis[x].id;
    names.axis_name[x] = program.axis[x].name;
  }
  return map_axes(mesh.state(), names);
}

}  // namespace shardtype::detail
