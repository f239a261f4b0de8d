#pragma once
/// Costs of plans, by which planners compare them.

#include <algorithm>
#include <cstdint>

#include <shardtype/plan/machine.hpp>
#include <shardtype/plan/step.hpp>
#include <shardtype/plan/two_stages.hpp>

namespace shardtype::planning {

/// Cost of steps for the busiest rank. Compared in this order: predicted time, bytes, flops,
/// messages, peak memory. Bytes alone would not count redundant computation.
struct Cost {
  std::int64_t picoseconds = 0;
  std::int64_t bytes = 0;
  std::int64_t flops = 0;
  std::int64_t messages = 0;
  std::int64_t peak_bytes = 0;

  friend constexpr Cost operator+(Cost const& a, Cost const& b) {
    return {in_time(a.picoseconds + b.picoseconds), add_sat(a.bytes, b.bytes),
            add_sat(a.flops, b.flops), add_sat(a.messages, b.messages),
            std::max(a.peak_bytes, b.peak_bytes)};
  }
  /// The cost of `times` repetitions in sequence.
  friend constexpr Cost operator*(Cost const& c, std::int64_t times) {
    return {in_time(mul_sat(c.picoseconds, times)), mul_sat(c.bytes, times),
            mul_sat(c.flops, times), mul_sat(c.messages, times), c.peak_bytes};
  }
  friend constexpr bool operator<(Cost const& a, Cost const& b) {
    if (a.picoseconds != b.picoseconds) return a.picoseconds < b.picoseconds;
    if (a.bytes != b.bytes) return a.bytes < b.bytes;
    if (a.flops != b.flops) return a.flops < b.flops;
    if (a.messages != b.messages) return a.messages < b.messages;
    return a.peak_bytes < b.peak_bytes;
  }
  friend constexpr bool operator==(Cost const&, Cost const&) = default;
};

/// Predicted transfer time of a collective in which the busiest rank moves `bytes` bytes. Of an
/// AllToAll on nodes it has the latency too that the faster form has for these bytes alone.
constexpr std::int64_t step_transfer(Collective collective, std::int64_t bytes, Machine const& m) {
  if (collective == Collective::all_to_all && has_faster_inside(m)) {
    double const segment =
        static_cast<double>(bytes) / static_cast<double>(m.nodes * m.in_node - 1);
    return picoseconds(exchange_seconds(segment, m) - exchange_seconds(0, m), 1);
  }
  CollectiveKind const& kind = kind_of(collective);
  double each = kind.plain + kind.hops * m.hops + kind.reducing * m.reducing;
  if (in_two_stages(collective, m)) each *= stage_factor(m);
  return picoseconds(static_cast<double>(bytes) * each, m.bytes_per_second);
}

/// Predicted latency of one collective over `p` ranks: that of its messages, and one more for the
/// ranks to synchronize. In two stages the messages and the one more are those of each stage.
constexpr std::int64_t step_latency(Collective collective, std::int64_t p, Machine const& m) {
  if (collective == Collective::all_to_all && has_faster_inside(m))
    return picoseconds(exchange_seconds(0, m), 1);
  if (in_two_stages(collective, m)) {
    double const between = static_cast<double>(step_messages(collective, m.nodes)) + 1;
    double const inside = static_cast<double>(kind_of(collective).messages * m.in_node);
    return picoseconds(between * m.latency + inside * inside_latency(m), 1);
  }
  return picoseconds(static_cast<double>(step_messages(collective, p)) + 1, 1.0 / m.latency);
}

/// Predicted time of a slice that leaves a view of `after` bytes: its reader reads with a stride.
constexpr std::int64_t slice_time(std::int64_t after, Machine const& m) {
  return picoseconds(static_cast<double>(after), m.memory_bytes_per_second);
}

/// Cost of a collective; for a slice, by the bytes that it leaves.
constexpr Cost step_cost(Collective collective, std::int64_t before, std::int64_t after,
                         std::int64_t p, Machine const& m) {
  Cost c;
  c.peak_bytes = before + after;
  if (collective == Collective::none) {
    c.picoseconds = slice_time(after, m);
    return c;
  }
  c.bytes = step_payload(collective, before, after, p);
  c.messages = step_messages(collective, p);
  c.picoseconds = step_transfer(collective, c.bytes, m) + step_latency(collective, p, m);
  return c;
}

/// Cost of a step of a plan. If a dim is split in another way, the bytes sent equal the bytes
/// received: as many ranks need a part as hold it.
constexpr Cost step_cost(Step const& s, Sizing const& z, Machine const& m) {
  std::int64_t const before =
      mul_sat(largest_elements(s.before, z.extents, z.sizes), z.element_bytes);
  std::int64_t const after =
      mul_sat(largest_elements(s.after, z.extents, z.sizes), z.element_bytes);
  return step_cost(s.collective(), s.move == Move::resplit ? after : before, after,
                   z.sizes.product(s.axes), m);
}

/// Whether the bytes of a tensor, and so of all its blocks, fit into 62 bits.
constexpr bool weighable(Spec const& s, Sizing const& z) {
  auto bytes = static_cast<double>(z.element_bytes);
  for (int d = 0; d < s.rank; ++d)
    if (std::int64_t const n = z.extents[s.dims[d].label]; n > 1) bytes *= static_cast<double>(n);
  return bytes < static_cast<double>(saturated);
}
/// The sizing by which a planner compares costs if sizes are not weighable: such tensors cannot
/// exist, but have a plan.
constexpr Sizing with_short_dims(Sizing z) {
  constexpr std::int64_t few = 64;
  for (std::int64_t& n : z.extents.at) n = std::min(n, few);
  return z;
}

}  // namespace shardtype::planning
