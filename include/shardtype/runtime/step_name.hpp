#pragma once
/// Names of steps, for SHARDTYPE_CHECK=agree.

#include <cstdint>
#include <source_location>
#include <string>

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

/// " (main.cpp:12)"
inline std::string source_text(std::source_location const& where) {
  std::string const file = where.file_name();
  return " (" + file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(where.line()) + ")";
}

}  // namespace shardtype::runtime
