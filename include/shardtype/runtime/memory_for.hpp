#pragma once
/// The error when the system has no memory.

#include <cstddef>
#include <cstdint>

#include <shardtype/core/compiled.hpp>

namespace shardtype::runtime {

/// Error E27: the system cannot provide `bytes` bytes for the tensor that is being made; this rank's
/// tensors hold `in_use`.
[[noreturn]] void throw_no_memory(std::size_t bytes, std::int64_t in_use);

}  // namespace shardtype::runtime

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/memory_for.ipp>
#endif
