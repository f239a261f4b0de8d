#pragma once
/// Memory for the small objects of a tape. A training loop makes the same objects in each step, so
/// what one step gives back serves the next.

#include <cstddef>
#include <new>

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

/// `bytes` of memory: a block of exactly this size that was given back, else new. Such blocks and
/// those of `new` and `delete` may be exchanged. For one thread, as pools.
inline void* take_small(std::size_t bytes) {
  using detail::SmallBlocks;
  if (!SmallBlocks::keeps(bytes)) return ::operator new(bytes);
  detail::SmallBlock*& first = SmallBlocks::here().of(bytes);
  if (first == nullptr) return ::operator new(bytes);
  detail::SmallBlock* const taken = first;
  first = taken->next;
  return taken;
}

/// Keeps the block for the next `take_small` of this size.
inline void give_back_small(void* block, std::size_t bytes) noexcept {
  using detail::SmallBlocks;
  if (!SmallBlocks::keeps(bytes)) {
    ::operator delete(block);
    return;
  }
  detail::SmallBlock*& first = SmallBlocks::here().of(bytes);
  first = ::new (block) detail::SmallBlock{first};
}

}  // namespace shardtype::runtime
