// Smaller limits of messages, so that short tensors take the paths of long ones.
#pragma once

#include <shardtype/runtime/run_time.hpp>

namespace shardtype::runtime {

// The limits that only tests change.
struct ChangeSending {
  static SendingLimits& limits() { return run_time.sending_; }
};

}  // namespace shardtype::runtime

namespace harness {

// While it exists, messages have other limits: `Sending const s({.largest_count = 5});`
class Sending {
 public:
  explicit Sending(shardtype::runtime::SendingLimits const& limits) { now() = limits; }
  Sending(Sending const&) = delete;
  Sending& operator=(Sending const&) = delete;
  ~Sending() { now() = before_; }

 private:
  static shardtype::runtime::SendingLimits& now() {
    return shardtype::runtime::ChangeSending::limits();
  }

  shardtype::runtime::SendingLimits before_ = now();
};

}  // namespace harness
