#pragma once
/// Collectives in two stages, inside of nodes and between them: when they are faster, and the bytes
/// of each kind of link.

#include <cstdint>

#include <shardtype/core/saturating.hpp>
#include <shardtype/plan/collective.hpp>
#include <shardtype/plan/machine.hpp>

namespace shardtype::planning {

/// Whether a collective has a form in two stages.
constexpr bool has_two_stages(Collective c) {
  return c == Collective::all_gather || c == Collective::all_reduce ||
         c == Collective::reduce_scatter;
}

/// Whether a collective over the group that `m` describes (Machine::over) runs in two stages: the
/// link inside of nodes is faster than that between them. The bytes of both stages together are
/// those of one stage, so this holds for blocks of any size.
constexpr bool in_two_stages(Collective c, Machine const& m) {
  return m.nodes > 1 && m.in_node > 1 && has_two_stages(c) &&
         m.inside_bytes_per_second > m.bytes_per_second;
}

/// Bytes of a segment, the part of a collective's data for one rank, from which it runs so; shorter
/// ones are left to MPI, which sends fewer messages for them.
inline constexpr std::int64_t least_staged_segment = 8192;

/// Bytes of a rank over each kind of link.
struct StageBytes {
  std::int64_t inside = 0;
  std::int64_t between = 0;
};
/// Of the `bytes` that a rank moves in two stages over `nodes` nodes of `in_node` ranks: it
/// exchanges the parts for its own place with the same place of other nodes alone.
constexpr StageBytes stage_bytes(std::int64_t bytes, Machine const& m) {
  std::int64_t const others = m.nodes * m.in_node - 1;
  std::int64_t const between =
      bytes / others * (m.nodes - 1) + bytes % others * (m.nodes - 1) / others;
  return {bytes - between, between};
}

/// The same; none if the collective runs in one stage.
constexpr StageBytes staged_bytes(Collective c, std::int64_t bytes, Machine const& m) {
  if (!in_two_stages(c, m)) return {};
  std::int64_t const segments = kind_of(c).messages * (m.nodes * m.in_node - 1);
  return bytes / segments < least_staged_segment ? StageBytes{} : stage_bytes(bytes, m);
}

/// Predicted time of a byte in two stages, relative to one over the link between nodes.
constexpr double stage_factor(Machine const& m) {
  double const others = static_cast<double>(m.nodes * m.in_node - 1);
  double const between = static_cast<double>(m.nodes - 1) / others;
  return between + (1 - between) * m.bytes_per_second / m.inside_bytes_per_second;
}

}  // namespace shardtype::planning
