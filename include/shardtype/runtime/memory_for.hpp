#pragma once
/// The tensor that a rank is creating, for the error message when the system has no memory.

#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/core/text.hpp>
#include <shardtype/runtime/run_time.hpp>
#include <shardtype/runtime/step_name.hpp>

namespace shardtype::runtime {

/// Records a tensor that is being created, and the program line that asks for it. While it exists,
/// memory is taken for the tensor and for intermediate values; the outermost record, of the
/// program's own call, is reported.
class MemoryFor {
 public:
  constexpr MemoryFor(char const* element, core::Spec const& spec, core::Names const& names,
                      std::source_location const* where)
      : element_(element), spec_(spec), names_(names), where_(where) {
    if (!std::is_constant_evaluated() && run_time.creating == nullptr) run_time.creating = this;
  }
  MemoryFor(MemoryFor const&) = delete;
  MemoryFor& operator=(MemoryFor const&) = delete;
  constexpr ~MemoryFor() {
    if (!std::is_constant_evaluated() && run_time.creating == this) run_time.creating = nullptr;
  }

  /// " for f64[I@X, J] (main.cpp:12)"; empty if no tensor is being created.
  static std::string text();

 private:
  char const* element_;
  core::Spec const& spec_;
  core::Names const& names_;
  std::source_location const* where_;
};

/// Error E27: the system cannot provide `bytes` bytes; this rank's tensors hold `in_use`.
[[noreturn]] void throw_no_memory(std::size_t bytes, std::int64_t in_use);

}  // namespace shardtype::runtime

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/memory_for.ipp>
#endif
