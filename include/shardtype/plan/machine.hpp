#pragma once
/// Rates of a machine, for predicted times.

#include <cstdint>

namespace shardtype {

/// What a planner believes of the machine: one latency and bandwidth for every mesh axis, and the
/// local rates. The defaults are round numbers of a cluster node; they only rank alternatives.
struct Machine {
  double latency = 2e-6;           ///< seconds per message
  double bytes_per_second = 10e9;  ///< each rank, each way
  double flops_per_second = 50e9;  ///< local products of float, all ranks at once
  double memory_bytes_per_second = 20e9;
  double cut_product = 1.05;  ///< time of a product in pieces, as a part of that of the whole
};

/// Predicted time as an integer number of picoseconds, so that sums are exact and the compiler's
/// plan and the run-time plan can never differ by a rounding.
constexpr std::int64_t picoseconds(double count, double per_second) {
  double const ps = count / per_second * 1e12;
  return ps > 1e17 ? std::int64_t{100'000'000'000'000'000} : static_cast<std::int64_t>(ps);
}

}  // namespace shardtype
