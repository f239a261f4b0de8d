#pragma once
/// The limits of a program of automatic mode.

#include <cstdint>

namespace shardtype::rules {

/// Which limit a program exceeds, if it is too large for the planner (plan/program.hpp): code L03.
enum class ProgramLimit : std::int8_t {
  none,
  values,   ///< the parts of chains included
  factors,  ///< of one chain of products
  constant  ///< choices that the compiler can make
};

}  // namespace shardtype::rules
