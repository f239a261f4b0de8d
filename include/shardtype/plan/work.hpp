#pragma once
/// The costs of an operation on one rank besides reading its operands and writing its result.

#include <cstdint>

namespace shardtype::planning {

/// Costs of an operation on the busiest rank, besides reading its operands and writing its result.
struct Work {
  std::int64_t flops = 0;
  std::int64_t workspace = 0;  ///< bytes
  bool shares = false;         ///< whether the result shares the memory of the first operand
};

}  // namespace shardtype::planning
