#pragma once
/// Definitions of pool.hpp.

#include <string>

#include <shardtype/core/error.hpp>
#include <shardtype/core/text.hpp>
#include <shardtype/runtime/linkage.hpp>
#include <shardtype/runtime/pool.hpp>

#ifdef SHARDTYPE_UNIT_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace shardtype::detail {

/// Under the address sanitizer: only the first `n` bytes of this host memory may be used. A cached
/// allocation is often larger than what is asked for, and is kept after its use.
SHARDTYPE_INLINE void allow_bytes([[maybe_unused]] Allocation const& a,
                                  [[maybe_unused]] std::size_t n) {
#ifdef SHARDTYPE_UNIT_ADDRESS_SANITIZER
  if (a.release != &release_memory<Kokkos::HostSpace>) return;
  ASAN_UNPOISON_MEMORY_REGION(a.data, n);
  ASAN_POISON_MEMORY_REGION(static_cast<char*>(a.data) + n, a.bytes - n);
#endif
}

SHARDTYPE_INLINE void ask_for_huge_pages(void* data, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t huge = std::uintptr_t{2} << 20;
  auto const begin = (reinterpret_cast<std::uintptr_t>(data) + huge - 1) / huge * huge;
  auto const end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / huge * huge;
  // refused: only slower
  if (begin < end)
    static_cast<void>(madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE));
#else
  static_cast<void>(data);
  static_cast<void>(bytes);
#endif
}

}  // namespace shardtype::detail

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

SHARDTYPE_INLINE void Pool::trim(std::size_t keep) {
  // the oldest of all is the oldest of its size
  while (idle_bytes_ > keep) destroy(take_out(place_of({oldest_->release, oldest_->bytes})));
}

SHARDTYPE_INLINE std::size_t Pool::place_of(detail::BlockSize const& size) const {
  std::size_t begin = 0;
  for (std::size_t end = idle_.size(); begin < end;) {
    std::size_t const middle = begin + (end - begin) / 2;
    if (idle_[middle].size < size) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

SHARDTYPE_INLINE detail::Allocation* Pool::cached(detail::BlockSize const& least) {
  std::size_t const place = place_of(least);
  if (place == idle_.size() || idle_[place].size.release != least.release) return nullptr;
  return serves(*idle_[place].oldest, least.bytes) ? take_out(place) : nullptr;
}

SHARDTYPE_INLINE void Pool::keep(detail::Allocation* a) {
  idle_bytes_ += a->bytes;
  a->next = a->next_alike = nullptr;
  a->previous = newest_;
  (newest_ == nullptr ? oldest_ : newest_->next) = a;
  newest_ = a;
  detail::BlockSize const size{a->release, a->bytes};
  std::size_t const place = place_of(size);
  if (place < idle_.size() && !(size < idle_[place].size)) {
    detail::Allocation*& last = idle_[place].newest;
    last = last->next_alike = a;
    return;
  }
  idle_.push_back({});
  for (std::size_t k = idle_.size() - 1; k > place; --k) idle_[k] = idle_[k - 1];
  idle_[place] = {size, a, a};
}

SHARDTYPE_INLINE detail::Allocation* Pool::take_out(std::size_t place) {
  detail::IdleBlocks& blocks = idle_[place];
  detail::Allocation* const a = blocks.oldest;
  blocks.oldest = a->next_alike;
  idle_bytes_ -= a->bytes;
  (a->previous == nullptr ? oldest_ : a->previous->next) = a->next;
  (a->next == nullptr ? newest_ : a->next->previous) = a->previous;
  if (blocks.oldest == nullptr) idle_.erase(place);
  return a;
}

SHARDTYPE_INLINE void Pool::make_room(std::size_t bytes) {
  std::size_t const most = bound(std::max(most_asked_, asked_bytes_ + bytes));
  std::size_t const needed = used_bytes_ + bytes;
  trim(needed < most ? most - needed : 0);
}

SHARDTYPE_INLINE Buffer Pool::used(detail::Allocation* a, std::size_t asked) {
  a->asked = asked;
  detail::allow_bytes(*a, asked);
  run_time.memory.add(static_cast<std::int64_t>(asked));
  used_bytes_ += a->bytes;
  asked_bytes_ += rounded(asked);
  most_asked_ = std::max(most_asked_, asked_bytes_);
  most_held_ = std::max(most_held_, used_bytes_ + idle_bytes_);
  ++used_;
  return Buffer(a);
}

SHARDTYPE_INLINE void Pool::destroy(detail::Allocation* a) {
  if (!Kokkos::is_initialized()) {
    // Kokkos has ended and accepts no memory; kept reachable for leak checkers
    a->next = std::exchange(outlived, a);
    return;
  }
  detail::allow_bytes(*a, a->bytes);
  a->release(a->data);
  delete a;
}

SHARDTYPE_INLINE void Pool::collect() {
  detail::Allocation* a = elsewhere_.exchange(nullptr);
  while (a != nullptr) give_back(std::exchange(a, a->next));
}

SHARDTYPE_INLINE void Pool::give_back(detail::Allocation* a) {
  if (core::RunningCall::in_other_thread()) {
    a->next = elsewhere_.load();
    while (!elsewhere_.compare_exchange_weak(a->next, a)) {
    }
    return;
  }
  if (a->release == nullptr) {
    delete a;
  } else {
    a->writing.reset();
    run_time.memory.subtract(static_cast<std::int64_t>(a->asked));
    used_bytes_ -= a->bytes;
    asked_bytes_ -= rounded(a->asked);
    keep(a);
    detail::allow_bytes(*a, 0);
  }
  --used_;
  if (closed_) leave();
}

}  // namespace shardtype::runtime
