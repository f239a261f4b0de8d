#pragma once
/// What a plan costs; planners compare nothing else.

#include <algorithm>
#include <cstdint>

#include <shardtype/plan/machine.hpp>
#include <shardtype/plan/step.hpp>

namespace shardtype {

/// Cost of steps for the busiest rank, in the order of comparison: predicted time, bytes, flops,
/// messages, peak memory. Bytes alone could not see redundant work.
struct Cost {
  std::int64_t picoseconds = 0;
  std::int64_t bytes = 0;
  std::int64_t flops = 0;
  std::int64_t messages = 0;
  std::int64_t peak_bytes = 0;

  friend constexpr Cost operator+(Cost const& a, Cost const& b) {
    return {a.picoseconds + b.picoseconds, a.bytes + b.bytes, a.flops + b.flops,
            a.messages + b.messages, std::max(a.peak_bytes, b.peak_bytes)};
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

/// Cost of one step that changes a sharding whose largest blocks have `before` bytes into one with
/// `after`, over a group of `p` ranks. A collective costs one latency on top of its messages, for all
/// its ranks to meet.
constexpr Cost step_cost(Collective collective, std::int64_t before, std::int64_t after,
                         std::int64_t p, Machine const& m) {
  Cost c;
  c.peak_bytes = before + after;
  switch (collective) {
    case Collective::none:
      c.picoseconds = picoseconds(static_cast<double>(after), m.memory_bytes_per_second);
      return c;
    case Collective::all_gather:
      c.bytes = before * (p - 1);
      break;
    case Collective::reduce_scatter:
      c.bytes = after * (p - 1);
      break;
    case Collective::all_reduce:
      c.bytes = 2 * before * (p - 1) / p;
      break;
    case Collective::all_to_all:
      c.bytes = before - before / p;
      break;
    case Collective::permute:
      c.bytes = p > 1 ? before : 0;
      break;
    case Collective::broadcast:
      break;
  }
  c.messages = step_messages(collective, p);
  c.picoseconds = picoseconds(static_cast<double>(c.bytes), m.bytes_per_second) +
                  picoseconds(static_cast<double>(c.messages) + 1, 1.0 / m.latency);
  return c;
}

/// The same for a step of a plan. Where a dim is split otherwise, what arrives says what is sent: as
/// many ranks may need a part as hold the same.
constexpr Cost step_cost(Step const& s, Sizing const& z, Machine const& m) {
  std::int64_t const before = largest_elements(s.before, z.extents, z.sizes) * z.element_bytes;
  std::int64_t const after = largest_elements(s.after, z.extents, z.sizes) * z.element_bytes;
  bool const otherwise = s.collective == Collective::all_to_all && s.from == s.to;
  return step_cost(s.collective, otherwise ? after : before, after, z.sizes.product(s.axes), m);
}

}  // namespace shardtype
