#pragma once
/// Rates of a machine, for predicted times.

#include <cstdint>

#include <shardtype/core/limits.hpp>
#include <shardtype/core/name.hpp>

namespace shardtype::planning {

/// What a mesh axis runs over.
struct AxisLink {
  Identity axis;
  double latency;           ///< seconds per message
  double bytes_per_second;  ///< each rank, each way
};

/// What a planner believes of the machine: latency and bandwidth of its network, and the local rates. The
/// defaults are round numbers of a cluster node; they only rank alternatives. plan/machines.hpp describes known
/// ones.
struct Machine {
  double latency = 2e-6;                  ///< seconds per message
  double bytes_per_second = 10e9;         ///< each rank, each way
  double flops_per_second = 50e9;         ///< local products of float, all ranks at once
  double memory_bytes_per_second = 20e9;  ///< read and written, all ranks at once
  double cut_product = 1.05;  ///< time of a product in pieces, as a part of that of the whole
  double reducing =
      1;  ///< time of a byte that is added up on its way, as a part of one's that is not

  /// Whether mesh axes are rings or lines of neighbours, each with links of its own. A group over several axes
  /// then has the bandwidth of all of them, and an AllToAll passes through the ranks between. Else a group has
  /// the bandwidth of its slowest axis, and every rank reaches every other one.
  bool torus = false;
  /// Links that a byte of an AllToAll takes in the group that `over` was asked for.
  double hops = 1;
  AxisLink links[max_axes]{};  ///< of the axes that have others

  /// The same machine, with another rate of products.
  constexpr Machine at(double flops) const {
    Machine out = *this;
    out.flops_per_second = flops;
    return out;
  }
  /// The same machine, with mesh axis `X` over links of this latency and bandwidth.
  template <class X>
  constexpr Machine with(double axis_latency, double axis_bytes_per_second) const {
    Machine out = *this;
    for (AxisLink& link : out.links) {
      if (link.axis != nullptr && link.axis != identity<X>) continue;
      link = {identity<X>, axis_latency, axis_bytes_per_second};
      break;
    }
    return out;
  }
  /// The machine as a group of ranks over several axes, of these sizes, sees it.
  constexpr Machine over(Identity const* axes, std::int64_t const* sizes, int count) const {
    Machine out = *this;
    double ranks = 1;
    std::int64_t longest = 1;
    for (int k = 0; k < count; ++k) {
      double axis_latency = latency;
      double rate = bytes_per_second;
      for (AxisLink const& link : links) {
        if (link.axis == nullptr || link.axis != axes[k]) continue;
        axis_latency = link.latency;
        rate = link.bytes_per_second;
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
    // half of a ring each way, a quarter of it on average; what a rank keeps takes none
    if (torus && ranks > 1) {
      double const average = static_cast<double>(longest) / 4 * count * ranks / (ranks - 1);
      if (average > 1) out.hops = average;
    }
    return out;
  }
};

/// The longest time that is told apart, in picoseconds: nearly a week. Of two plans that take longer the one
/// that moves less is the better. A dozen such times still add up in 63 bits.
inline constexpr std::int64_t longest_time = std::int64_t{1} << 59;

/// What a sum of times counts as.
constexpr std::int64_t in_time(std::int64_t sum) { return sum < longest_time ? sum : longest_time; }

/// Predicted time as an integer number of picoseconds, so that sums are exact and the compiler's
/// plan and the run-time plan can never differ by a rounding.
constexpr std::int64_t picoseconds(double count, double per_second) {
  double const ps = count / per_second * 1e12;
  return ps < static_cast<double>(longest_time) ? static_cast<std::int64_t>(ps) : longest_time;
}

}  // namespace shardtype::planning

namespace shardtype {
using planning::AxisLink;
using planning::Machine;
}  // namespace shardtype
