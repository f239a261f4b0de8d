#pragma once
/// Collectives in two stages, inside of nodes and between them: when they are faster, and the bytes
/// of each kind of link.

#include <cstdint>

#include <shardtype/core/saturating.hpp>
#include <shardtype/plan/collective.hpp>
#include <shardtype/plan/machine.hpp>

namespace shardtype::planning {

/// Whether a collective has a form in two stages that moves no more bytes.
constexpr bool has_two_stages(Collective c) {
  return c == Collective::all_gather || c == Collective::all_reduce ||
         c == Collective::reduce_scatter;
}

/// Whether the group that `m` describes (Machine::over) has several nodes with faster links inside.
constexpr bool has_faster_inside(Machine const& m) {
  return m.nodes > 1 && m.in_node > 1 && m.inside_bytes_per_second > m.bytes_per_second;
}

/// Whether a collective over this group runs in two stages: the link inside of nodes is faster than
/// that between them. The bytes of both stages together are those of one stage, so this holds for
/// blocks of any size. For an AllToAll see exchange_in_two_stages.
constexpr bool in_two_stages(Collective c, Machine const& m) {
  return has_two_stages(c) && has_faster_inside(m);
}

/// Latency of a message inside of a node.
constexpr double inside_latency(Machine const& m) {
  return m.inside_latency > 0 ? m.inside_latency : m.latency;
}

// An AllToAll in two stages: a rank gives each other rank of its node the segments for that one's
// place in all nodes, which are then one message for each other node. Between nodes the bytes are
// the same and the messages fewer; inside of nodes the bytes are more.

/// Segments that a rank of an AllToAll sends over each kind of link.
constexpr std::int64_t segments_between(Machine const& m) { return (m.nodes - 1) * m.in_node; }
constexpr std::int64_t segments_inside(int stages, Machine const& m) {
  return (stages == 2 ? m.nodes : 1) * (m.in_node - 1);
}
/// Predicted seconds of an AllToAll of segments of `segment` bytes in one or two stages: its bytes,
/// its messages over each kind of link, and one more for the ranks to synchronize in each stage.
constexpr double exchange_seconds(double segment, int stages, Machine const& m) {
  auto const between = static_cast<double>(segments_between(m));
  auto const inside = static_cast<double>(segments_inside(stages, m));
  auto const others = static_cast<double>(m.in_node - 1);
  double const latency =
      stages == 2 ? static_cast<double>(m.nodes) * m.latency + (others + 1) * inside_latency(m)
                  : (between + 1) * m.latency + others * inside_latency(m);
  return segment * between / m.bytes_per_second + segment * inside / m.inside_bytes_per_second +
         latency;
}
/// Whether an AllToAll of segments of `segment` bytes runs in two stages: the messages that it
/// saves between nodes take longer than the bytes that it adds inside of them.
constexpr bool exchange_in_two_stages(std::int64_t segment, Machine const& m) {
  auto const bytes = static_cast<double>(segment);
  return has_faster_inside(m) && exchange_seconds(bytes, 2, m) < exchange_seconds(bytes, 1, m);
}
/// The predicted seconds of the faster one.
constexpr double exchange_seconds(double segment, Machine const& m) {
  double const one = exchange_seconds(segment, 1, m);
  double const two = exchange_seconds(segment, 2, m);
  return two < one ? two : one;
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

/// The same of an AllToAll, whose `bytes` are those of one stage.
constexpr StageBytes exchange_stage_bytes(std::int64_t bytes, Machine const& m) {
  std::int64_t const others = m.nodes * m.in_node - 1;
  auto const part = [&](std::int64_t segments) {
    return bytes / others * segments + bytes % others * segments / others;
  };
  return {part(segments_inside(2, m)), part(segments_between(m))};
}

/// The bytes over each kind of link of a collective that moves `bytes` in one stage; none if it
/// runs in one stage.
constexpr StageBytes staged_bytes(Collective c, std::int64_t bytes, Machine const& m) {
  if (c == Collective::all_to_all) {
    if (!has_faster_inside(m)) return {};
    std::int64_t const segment = bytes / (m.nodes * m.in_node - 1);
    return exchange_in_two_stages(segment, m) ? exchange_stage_bytes(bytes, m) : StageBytes{};
  }
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
