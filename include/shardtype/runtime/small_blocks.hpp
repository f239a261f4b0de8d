#pragma once
/// Memory for the small objects of a tape. A training loop makes the same objects in each step, so what
/// one step gives back serves the next.

#include <cstddef>

#include <shardtype/core/compiled.hpp>

namespace shardtype::runtime {

/// `bytes` of memory: a block of exactly this size that was given back, else new. Such blocks and those
/// of `new` and `delete` may be exchanged. For one thread, as pools.
void* take_small(std::size_t bytes);
/// Keeps the block for the next `take_small` of this size.
void give_back_small(void* block, std::size_t bytes) noexcept;

}  // namespace shardtype::runtime

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/small_blocks.ipp>
#endif
