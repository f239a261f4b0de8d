// Smaller limits of messages, so that short tensors take the paths of long ones.
#pragma once

#include <shardtype/runtime/run_time.hpp>

#include "harness/while_set.hpp"

namespace shardtype::runtime {

// The limits that only tests change.
struct ChangeSending {
  static SendingLimits& limits() { return run_time.sending_; }
};

}  // namespace shardtype::runtime

namespace harness {

// While it exists, messages have other limits: `Sending const s({.largest_count = 5});`
struct Sending : WhileSet<shardtype::runtime::SendingLimits> {
  explicit Sending(shardtype::runtime::SendingLimits const& limits)
      : WhileSet(shardtype::runtime::ChangeSending::limits(), limits) {}
};

}  // namespace harness
