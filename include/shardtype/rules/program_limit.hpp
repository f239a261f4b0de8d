#pragma once
/// The limits of a program of automatic mode.

#include <cstdint>

namespace shardtype::rules {

/// Which limit a program exceeds, if it is too large for the planner (plan/program.hpp): code L03.
enum class ProgramLimit : std::int8_t {
  none,
  values,    ///< the parts of chains included
  operands,  ///< that values read, over all ways to associate products
  factors,   ///< of one chain of products
  indices,   ///< that differ
  dims,      ///< of all values together, before those of one index are merged
  shares,    ///< marks
  calls,     ///< with a plan of their own
  layouts,   ///< different block-cyclic ones
  steps,     ///< of the plan
  constant   ///< choices that the compiler can make
};

}  // namespace shardtype::rules
