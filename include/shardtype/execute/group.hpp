#pragma once
/// The ranks that differ only along some axes: their communicator, and their blocks.

#include <cstdint>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/plan/plan.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::execute {

/// The communicator of the group along `axes`, first axis major.
Comm& group_of(MeshState& mesh, AxisMap const& map, AxisList const& axes);

/// Writes the members of that group, in order, as ranks of the mesh to `out`.
detail::List<int>& members_of(MeshState const& mesh, AxisMap const& map, AxisList const& axes,
                              detail::List<int>& out);

/// Number of the calling rank's group among the groups along `axes`.
std::int64_t number_of_group(MeshState const& mesh, AxisMap const& map, AxisList const& axes);

/// Writes the block along `dim` of sharding `spec` of each member of that group, in order, to
/// `out`.
detail::List<Range>& member_blocks(Spec const& spec, int dim, Sizing const& sizing,
                                   AxisMap const& map, AxisList const& axes,
                                   detail::List<Range>& out);

/// As above, relative to the begin of the first member's block.
detail::List<Range>& relative_blocks(Spec const& spec, int dim, Sizing const& sizing,
                                     AxisMap const& map, AxisList const& axes,
                                     detail::List<Range>& out);

/// Writes the rows of each member along a dim that may be block-cyclic.
void member_rows(Spec const& spec, int dim, Sizing const& sizing, AxisMap const& map,
                 AxisList const& axes, detail::List<Rows>& out);

/// The calling rank's index in that group.
std::int64_t place_in_group(AxisMap const& map, AxisList const& axes);

}  // namespace shardtype::execute

#ifndef SHARDTYPE_COMPILED
#include <shardtype/execute/group.ipp>
#endif
