#pragma once
/// Definitions of small_blocks.hpp.

#include <new>

#include <shardtype/runtime/small_blocks.hpp>

namespace shardtype::detail {

/// A block that was given back: the address of the next one of its size is its first bytes.
struct SmallBlock {
  SmallBlock* next = nullptr;
};
/// The blocks of sizes 8, 16, 24, ... that were given back; larger ones are not kept.
struct SmallBlocks {
  static constexpr std::size_t sizes = 256;
  SmallBlock* first[sizes]{};

  static bool keeps(std::size_t bytes) {
    return bytes != 0 && bytes % sizeof(SmallBlock) == 0 && bytes / sizeof(SmallBlock) <= sizes;
  }
  SmallBlock*& of(std::size_t bytes) { return first[bytes / sizeof(SmallBlock) - 1]; }

  static SmallBlocks& here() {
    static SmallBlocks all;
    return all;
  }
};

}  // namespace shardtype::detail

namespace shardtype::runtime {

SHARDTYPE_INLINE void* take_small(std::size_t bytes) {
  using detail::SmallBlocks;
  if (!SmallBlocks::keeps(bytes)) return ::operator new(bytes);
  detail::SmallBlock*& first = SmallBlocks::here().of(bytes);
  if (first == nullptr) return ::operator new(bytes);
  detail::SmallBlock* const taken = first;
  first = taken->next;
  return taken;
}

SHARDTYPE_INLINE void give_back_small(void* block, std::size_t bytes) noexcept {
  using detail::SmallBlocks;
  if (!SmallBlocks::keeps(bytes)) {
    ::operator delete(block);
    return;
  }
  detail::SmallBlock*& first = SmallBlocks::here().of(bytes);
  first = ::new (block) detail::SmallBlock{first};
}

}  // namespace shardtype::runtime
