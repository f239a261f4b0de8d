#pragma once
/// Rates of a machine, from which times are predicted.

#include <cstdint>

#include <shardtype/core/limits.hpp>
#include <shardtype/core/name.hpp>
#include <shardtype/plan/rooms.hpp>

namespace shardtype::planning {

/// The link of one mesh axis.
struct AxisLink {
  Identity axis;
  double latency;           ///< seconds per message
  double bytes_per_second;  ///< per rank and direction; 0: the machine's
  std::int64_t in_node;     ///< neighbouring ranks of the axis that share a node; 0: not known
};

/// The index of the link of an axis, or of one that no axis has.
constexpr int room_for(AxisLink const* links, Identity axis) {
  for (int k = 0; k < max_axes; ++k)
    if (links[k].axis == nullptr || links[k].axis == axis) return k;
  no_room("a machine has links of its own for", max_axes, "mesh axes");
}

/// A planner's model of the machine: latency and bandwidth of its network, and the local rates. The
/// defaults are round numbers for a cluster node and serve only to rank alternatives.
/// plan/machines.hpp describes known machines.
struct Machine {
  double latency = 2e-6;                  ///< seconds per message
  double bytes_per_second = 10e9;         ///< per rank and direction
  double flops_per_second = 50e9;         ///< local products of float, with all ranks busy
  double memory_bytes_per_second = 20e9;  ///< read and written, with all ranks busy
  double cut_product = 1.05;  ///< time of a product in pieces relative to the whole product
  double reducing =
      1;  ///< cost of a byte in a reduction collective relative to a plain transfer (1 = equal)
  double inside_latency = 0;           ///< of ranks of one node; 0: `latency`
  double inside_bytes_per_second = 0;  ///< the same; 0: `bytes_per_second`

  /// Whether mesh axes are rings or lines of neighbours, each with links of its own. A group over
  /// several axes then has the bandwidth of all of them, and an AllToAll passes through
  /// intermediate ranks. Otherwise a group has the bandwidth of its slowest axis, and every rank
  /// reaches every other one directly.
  bool torus = false;
  /// Mean number of links that a byte of an AllToAll passes in a group; set by `over`.
  double hops = 1;
  /// How a group lies on nodes, set by `over`: its ranks that share one, and how many nodes it has;
  /// 1 of either: all its links are alike.
  std::int64_t in_node = 1;
  std::int64_t nodes = 1;
  AxisLink links[max_axes]{};  ///< of axes with rates of their own

  /// The same machine with another rate of products.
  constexpr Machine at(double flops) const {
    Machine out = *this;
    out.flops_per_second = flops;
    return out;
  }
  /// The same machine with a link of this latency and bandwidth for mesh axis `X`. Error E84: six
  /// other axes have one.
  template <class X>
  constexpr Machine with(double axis_latency, double axis_bytes_per_second) const {
    Machine out = *this;
    AxisLink& link = out.links[planning::room_for(links, identity<X>)];
    link = {identity<X>, axis_latency, axis_bytes_per_second, link.in_node};
    return out;
  }
  /// The same machine, where as many neighbouring ranks of mesh axis `X` share a node: 1 if the
  /// axis lies across nodes, its size or more if it lies inside of one. Error E84.
  template <class X>
  constexpr Machine node_ranks(std::int64_t ranks) const {
    return node_ranks(identity<X>, ranks);
  }
  constexpr Machine node_ranks(Identity axis, std::int64_t ranks) const {
    Machine out = *this;
    AxisLink& link = out.links[planning::room_for(links, axis)];
    link.axis = axis;
    link.in_node = ranks;
    return out;
  }
  /// The machine's rates for a group of ranks over several axes of these sizes.
  constexpr Machine over(Identity const* axes, std::int64_t const* sizes, int count) const {
    Machine out = *this;
    double ranks = 1;
    std::int64_t longest = 1;
    for (int k = 0; k < count; ++k) {
      double axis_latency = latency;
      double rate = bytes_per_second;
      for (AxisLink const& link : links) {
        if (link.axis == nullptr || link.axis != axes[k]) continue;
        if (link.bytes_per_second > 0) {
          axis_latency = link.latency;
          rate = link.bytes_per_second;
        } else if (link.in_node >= sizes[k] && inside_bytes_per_second > 0) {
          axis_latency = inside_latency;
          rate = inside_bytes_per_second;
        }
        if (link.in_node > 1) out.in_node *= link.in_node < sizes[k] ? link.in_node : sizes[k];
      }
      if (k == 0 || axis_latency > out.latency) out.latency = axis_latency;
      if (k > 0 && torus) {
        out.bytes_per_second += rate;
      } else if (k == 0 || rate < out.bytes_per_second) {
        out.bytes_per_second = rate;
      }
      ranks *= static_cast<double>(sizes[k]);
      if (sizes[k] > longest) longest = sizes[k];
    }
    auto const all = static_cast<std::int64_t>(ranks);
    if (torus || out.in_node >= all) out.in_node = 1;
    if (out.in_node > 1) out.nodes = (all + out.in_node - 1) / out.in_node;
    // at most half of a ring, a quarter on average; bytes that a rank keeps pass no link
    if (torus && ranks > 1) {
      double const average = static_cast<double>(longest) / 4 * count * ranks / (ranks - 1);
      if (average > 1) out.hops = average;
    }
    return out;
  }
};

/// The longest distinguishable time, in picoseconds: nearly a week. Of two longer plans, the
/// planner prefers the one that moves fewer bytes. The sum of a dozen such times fits into 63 bits.
inline constexpr std::int64_t longest_time = std::int64_t{1} << 59;

/// A sum of times, at most `longest_time`.
constexpr std::int64_t in_time(std::int64_t sum) { return sum < longest_time ? sum : longest_time; }

/// Predicted time as an integer number of picoseconds: sums are exact, so the compile-time plan and
/// the run-time plan can never differ by rounding.
constexpr std::int64_t picoseconds(double count, double per_second) {
  double const ps = count / per_second * 1e12;
  return ps < static_cast<double>(longest_time) ? static_cast<std::int64_t>(ps) : longest_time;
}

}  // namespace shardtype::planning

namespace shardtype {
using planning::AxisLink;
using planning::Machine;
}  // namespace shardtype
