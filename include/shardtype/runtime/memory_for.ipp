#pragma once
/// Definitions of memory_for.hpp.

#include <shardtype/runtime/memory_for.hpp>

namespace shardtype::runtime {

SHARDTYPE_INLINE std::string MemoryFor::text() {
  if (now == nullptr) return "";
  return std::string(" for ") + now->element_ + core::spec_text(now->spec_, now->names_) +
         (now->where_ == nullptr ? "" : source_text(*now->where_));
}

SHARDTYPE_INLINE void throw_no_memory(std::size_t bytes, std::int64_t in_use) {
  throw Error("E27", "no memory of " + std::to_string(bytes) + " bytes" + MemoryFor::text() +
                         "; this rank's tensors hold " + std::to_string(in_use) +
                         " bytes already: split over more ranks, or take a narrower element type");
}

}  // namespace shardtype::runtime
