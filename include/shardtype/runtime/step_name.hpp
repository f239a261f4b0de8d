#pragma once
/// Hashes of steps, for SHARDTYPE_CHECK=agree.

#include <cstdint>
#include <string>

#include <shardtype/core/running_call.hpp>

namespace shardtype::runtime {

/// A hash of the data on which ranks must agree: FNV-1a over integers and texts.
class StepHash {
 public:
  StepHash& mix(std::uint64_t x) {
    value_ = (value_ ^ x) * 1099511628211U;
    return *this;
  }
  StepHash& mix(std::string const& text) {
    for (char c : text) mix(static_cast<unsigned char>(c));
    return *this;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037U;
};

}  // namespace shardtype::runtime
