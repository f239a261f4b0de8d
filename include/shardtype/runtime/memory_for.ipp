#pragma once
/// Definitions of memory_for.hpp.

#include <shardtype/runtime/memory_for.hpp>

namespace shardtype::runtime {

SHARDTYPE_INLINE std::string MemoryFor::text() {
  if (run_time.creating == nullptr) return "";
  return std::string(" for ") + run_time.creating->element_ +
         core::spec_text(run_time.creating->spec_, run_time.creating->names_) +
         (run_time.creating->where_ == nullptr ? "" : source_text(*run_time.creating->where_));
}

SHARDTYPE_INLINE void throw_no_memory(std::size_t bytes, std::int64_t in_use) {
  throw Error("E27", "no memory of " + std::to_string(bytes) + " bytes" + MemoryFor::text() +
                         "; this rank's tensors hold " + std::to_string(in_use) +
                         " bytes already: split over more ranks, or take a narrower element type");
}

}  // namespace shardtype::runtime
