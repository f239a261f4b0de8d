#pragma once
/// The ranks that differ only along some axes: their communicator, and their blocks.

#include <cstdint>

#include <shardtype/core/list.hpp>
#include <shardtype/plan/plan.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::execute {

/// The communicator of the group along `axes`, first axis major.
inline Comm& group_of(MeshState& mesh, AxisMap const& map, AxisList const& axes) {
  int positions[max_axes];
  for (int k = 0; k < axes.size; ++k) positions[k] = map.position[axes[k]];
  return mesh.group(positions, axes.size);
}

/// Writes the members of that group, in order, as ranks of the mesh to `out`.
inline detail::List<int>& members_of(MeshState const& mesh, AxisMap const& map,
                                     AxisList const& axes, detail::List<int>& out) {
  std::int64_t const p = map.sizes.product(axes);
  out.resize(static_cast<std::size_t>(p));
  for (std::int64_t g = 0; g < p; ++g) {
    Coords const there = member(axes, map.sizes, map.coords, g);
    std::int64_t rank = 0;
    for (std::size_t k = 0; k < mesh.axes().size(); ++k) {
      std::int64_t at = mesh.coords()[k];
      for (int x = 0; x < max_axes; ++x)
        if (map.position[x] == static_cast<int>(k)) at = there[x];
      rank = rank * mesh.axes()[k].size + at;
    }
    out[static_cast<std::size_t>(g)] = static_cast<int>(rank);
  }
  return out;
}

/// Number of the calling rank's group among the groups along `axes`.
inline std::int64_t number_of_group(MeshState const& mesh, AxisMap const& map,
                                    AxisList const& axes) {
  int positions[max_axes];
  for (int k = 0; k < axes.size; ++k) positions[k] = map.position[axes[k]];
  return mesh.number_of_group(positions, axes.size);
}

/// Writes the block along `dim` of sharding `spec` of each member of that group, in order, to
/// `out`.
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

/// Writes the same blocks, relative to the begin of the first member's block.
inline detail::List<Range>& relative_blocks(Spec const& spec, int dim, Sizing const& sizing,
                                            AxisMap const& map, AxisList const& axes,
                                            detail::List<Range>& out) {
  member_blocks(spec, dim, sizing, map, axes, out);
  std::int64_t const begin = out.front().begin;
  for (Range& r : out) r = {r.begin - begin, r.end - begin};
  return out;
}

/// Writes the rows of each member along a dim that may be block-cyclic.
inline void member_rows(Spec const& spec, int dim, Sizing const& sizing, AxisMap const& map,
                        AxisList const& axes, detail::List<Rows>& out) {
  std::int64_t const p = sizing.sizes.product(axes);
  out.resize(static_cast<std::size_t>(p));
  for (std::int64_t g = 0; g < p; ++g)
    out[static_cast<std::size_t>(g)] =
        rows_of(spec, dim, sizing, member(axes, sizing.sizes, map.coords, g));
}

// The lists that collectives take, one entry for each member, written to `out`.

/// Begins of consecutive blocks relative to the first one, and the end of the last.
inline detail::List<std::int64_t>& begins(detail::List<Range> const& blocks,
                                          detail::List<std::int64_t>& out) {
  out.clear();
  for (Range const& r : blocks) out.push_back(r.begin - blocks.front().begin);
  out.push_back(blocks.back().end - blocks.front().begin);
  return out;
}
inline detail::List<std::int64_t>& counts(detail::List<Range> const& blocks, std::int64_t each,
                                          detail::List<std::int64_t>& out) {
  out.clear();
  for (Range const& r : blocks) out.push_back(r.size() * each);
  return out;
}
/// Counts of the rows that this rank shares with each member.
inline detail::List<std::int64_t>& counts(Rows const& mine, detail::List<Rows> const& others,
                                          std::int64_t each, detail::List<std::int64_t>& out) {
  out.clear();
  for (Rows const& theirs : others) out.push_back(common(mine, theirs) * each);
  return out;
}
inline detail::List<std::int64_t>& offsets(detail::List<std::int64_t> const& lengths,
                                           detail::List<std::int64_t>& out) {
  out.clear();
  std::int64_t sum = 0;
  for (std::int64_t n : lengths) {
    out.push_back(sum);
    sum += n;
  }
  return out;
}
inline bool all_equal(detail::List<Range> const& blocks) {
  for (Range const& r : blocks)
    if (r.size() != blocks.front().size()) return false;
  return true;
}
/// The kind of segments of an exchange, the same on every member: `most` is the largest number of
/// elements that any member sends or receives.
inline Segments sized(bool even, std::int64_t most) {
  if (most > run_time.sending().largest_count) return Segments::huge;
  return even ? Segments::even : Segments::uneven;
}

}  // namespace shardtype::execute
