#pragma once
/// Errors of settings of training.

#include <string>

#include <shardtype/core/error.hpp>

namespace shardtype::train::detail {

/// Error E85, the same on all ranks.
[[noreturn]] inline void throw_setting(char const* what, double value, char const* rule) {
  throw Error("E85", std::string(what) + " is " + std::to_string(value) + "; " + rule,
              FailedOn::every_rank);
}
constexpr double huge = 1.7976931348623157e308;
constexpr double not_negative(double value, char const* what) {
  if (!(value >= 0 && value <= huge)) throw_setting(what, value, "it is a number, 0 or more");
  return value;
}
constexpr double below_one(double value, char const* what) {
  if (!(value >= 0 && value < 1)) throw_setting(what, value, "it is at least 0 and below 1");
  return value;
}

}  // namespace shardtype::train::detail
