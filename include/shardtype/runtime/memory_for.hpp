#pragma once
/// What a rank is making, for the error of memory that the system does not have.

#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>

#include <shardtype/core/error.hpp>
#include <shardtype/core/text.hpp>
#include <shardtype/runtime/step_name.hpp>

namespace shardtype::runtime {

/// A tensor that is being made, and the line of the program that asks for it. While one lives, memory is taken for
/// it and for what it is computed from; the outermost counts, which is the program's own call.
class MemoryFor {
 public:
  constexpr MemoryFor(char const* element, core::Spec const& spec, core::Names const& names,
                      std::source_location const* where)
      : element_(element), spec_(spec), names_(names), where_(where) {
    if (!std::is_constant_evaluated() && now == nullptr) now = this;
  }
  MemoryFor(MemoryFor const&) = delete;
  MemoryFor& operator=(MemoryFor const&) = delete;
  constexpr ~MemoryFor() {
    if (!std::is_constant_evaluated() && now == this) now = nullptr;
  }

  /// " for f64[I@X, J] (main.cpp:12)"; nothing where no tensor is being made.
  static std::string text() {
    if (now == nullptr) return "";
    return std::string(" for ") + now->element_ + core::spec_text(now->spec_, now->names_) +
           (now->where_ == nullptr ? "" : source_text(*now->where_));
  }

 private:
  static inline MemoryFor const* now = nullptr;

  char const* element_;
  core::Spec const& spec_;
  core::Names const& names_;
  std::source_location const* where_;
};

/// Error E27: the system has no `bytes` bytes; this rank's tensors hold `in_use`.
[[noreturn]] inline void throw_no_memory(std::size_t bytes, std::int64_t in_use) {
  throw Error("E27", "no memory of " + std::to_string(bytes) + " bytes" + MemoryFor::text() +
                         "; this rank's tensors hold " + std::to_string(in_use) +
                         " bytes already: split over more ranks, or take a narrower element type");
}

}  // namespace shardtype::runtime
