#pragma once
/// Definitions of memory_for.hpp.

#include <string>

#include <shardtype/core/error.hpp>
#include <shardtype/core/text.hpp>
#include <shardtype/runtime/memory_for.hpp>

namespace shardtype::runtime {

SHARDTYPE_INLINE void throw_no_memory(std::size_t bytes, std::int64_t in_use) {
  core::RunningCall const* const making = core::RunningCall::making();
  throw Error("E27",
              "no memory of " + std::to_string(bytes) + " bytes" +
                  (making == nullptr ? ""
                                     : std::string(" for ") + making->element() +
                                           core::spec_text(making->spec(), making->names())) +
                  "; this rank's tensors hold " + std::to_string(in_use) +
                  " bytes already: split over more ranks, or take a narrower element type");
}

}  // namespace shardtype::runtime
