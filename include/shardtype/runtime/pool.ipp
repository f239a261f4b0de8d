#pragma once
/// Definitions of pool.hpp.

#include <string>

#include <unistd.h>

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
  if (a.release != &release_memory<Kokkos::HostSpace> && a.release != &release_divided) return;
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

/// How many of these bytes of host memory have no page; all, if the system does not tell.
SHARDTYPE_INLINE std::size_t bytes_without_page([[maybe_unused]] void const* data,
                                                std::size_t bytes) {
#ifdef __linux__
  static auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  constexpr std::size_t most = 512;
  unsigned char there[most];
  auto const begin = (reinterpret_cast<std::uintptr_t>(data) + page - 1) / page * page;
  auto const end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / page * page;
  std::size_t out = 0;
  for (std::uintptr_t at = begin; at < end; at += most * page) {
    std::size_t const pages = std::min<std::size_t>(most, (end - at) / page);
    if (mincore(reinterpret_cast<void*>(at), pages * page, there) != 0) return bytes;
    for (std::size_t k = 0; k < pages; ++k)
      if ((there[k] & 1U) == 0) out += page;
  }
  return out;
#else
  return bytes;
#endif
}

/// Gives the pages that lie wholly in this host memory back to the system.
SHARDTYPE_INLINE void give_back_pages([[maybe_unused]] void* data,
                                      [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_DONTNEED
  static auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto const begin = (reinterpret_cast<std::uintptr_t>(data) + page - 1) / page * page;
  auto const end = (reinterpret_cast<std::uintptr_t>(data) + bytes) / page * page;
  // refused: they stay, and are counted
  if (begin < end)
    static_cast<void>(madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED));
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
  for (detail::Allocation* a = oldest_; a != nullptr && idle_bytes_ > keep;) {
    detail::Allocation* const whole = std::exchange(a, a->next);
    if (!whole->whole()) continue;
    take_out(whole);
    if (whole->release == &detail::release_divided) left_ += whole->bytes;
    destroy(whole);
  }
  // parts of memory whose others are in use: their pages, of each the last, for requests get the
  // first
  for (detail::Allocation* a = oldest_; a != nullptr && idle_bytes_ > keep; a = a->next) {
    auto const give_back = [&](std::size_t bytes) {
      detail::give_back_pages(static_cast<char*>(a->data) + (a->bytes - bytes), bytes);
      std::size_t const absent = detail::bytes_without_page(a->data, a->bytes);
      if (absent <= a->absent) return;
      idle_bytes_ -= absent - a->absent;
      a->absent = absent;
    };
    give_back(std::min(a->absent + idle_bytes_ - keep + most_page, a->bytes));
    if (idle_bytes_ > keep) give_back(a->bytes);
  }
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
  detail::Allocation* a = idle_[place].oldest;
  if (!serves(*a, least.bytes)) return nullptr;
  // parts of divided memory lie where they lay in the last step of a loop, however it released them
  if (least.release == &detail::release_divided)
    for (detail::Allocation* other = a->next_alike; other != nullptr; other = other->next_alike)
      if (std::less<>()(other->data, a->data)) a = other;
  take_out(place, a);
  if (least.release == &detail::release_divided) divide(a, least.bytes);
  return a;
}

SHARDTYPE_INLINE void Pool::divide(detail::Allocation* a, std::size_t bytes) {
  std::size_t absent = a->absent;
  if (bytes < a->bytes) {
    auto* rest = new detail::Allocation;
    rest->data = static_cast<char*>(a->data) + bytes;
    rest->bytes = a->bytes - bytes;
    rest->release = a->release;
    rest->copy = a->copy;
    rest->home = this;
    rest->below = a;
    rest->above = a->above;
    if (rest->above != nullptr) rest->above->below = rest;
    a->above = rest;
    a->bytes = bytes;
    if (absent != 0) absent = std::min(absent, detail::bytes_without_page(a->data, bytes));
    rest->absent = std::min(a->absent - absent, rest->bytes);
    keep(rest);
  }
  a->absent = 0;
  if (absent != 0) make_room(bytes);
}

SHARDTYPE_INLINE detail::Allocation* Pool::join(detail::Allocation* a) {
  auto const append = [](detail::Allocation& to, detail::Allocation* from) {
    to.bytes += from->bytes;
    to.absent += from->absent;
    to.above = from->above;
    if (to.above != nullptr) to.above->below = &to;
    delete from;
  };
  if (detail::Allocation* const above = a->above; above != nullptr && above->cached) {
    take_out(above);
    append(*a, above);
  }
  if (detail::Allocation* const below = a->below; below != nullptr && below->cached) {
    take_out(below);
    append(*below, a);
    return below;
  }
  return a;
}

SHARDTYPE_INLINE void Pool::keep(detail::Allocation* a) {
  idle_bytes_ += a->bytes - a->absent;
  a->cached = true;
  a->next = a->next_alike = nullptr;
  a->previous = newest_;
  (newest_ == nullptr ? oldest_ : newest_->next) = a;
  newest_ = a;
  detail::BlockSize const size{a->release, a->bytes};
  std::size_t const place = place_of(size);
  if (place < idle_.size() && !(size < idle_[place].size)) {
    a->previous_alike = std::exchange(idle_[place].newest, a);
    a->previous_alike->next_alike = a;
    return;
  }
  a->previous_alike = nullptr;
  idle_.push_back({});
  for (std::size_t k = idle_.size() - 1; k > place; --k) idle_[k] = idle_[k - 1];
  idle_[place] = {size, a, a};
}

SHARDTYPE_INLINE void Pool::take_out(std::size_t place, detail::Allocation* a) {
  detail::IdleBlocks& blocks = idle_[place];
  (a->previous_alike == nullptr ? blocks.oldest : a->previous_alike->next_alike) = a->next_alike;
  (a->next_alike == nullptr ? blocks.newest : a->next_alike->previous_alike) = a->previous_alike;
  (a->previous == nullptr ? oldest_ : a->previous->next) = a->next;
  (a->next == nullptr ? newest_ : a->next->previous) = a->previous;
  idle_bytes_ -= a->bytes - a->absent;
  a->cached = false;
  if (blocks.oldest == nullptr) idle_.erase(place);
}

SHARDTYPE_INLINE void Pool::make_room(std::size_t bytes) {
  if (std::exchange(gave_back_, false) && repetition_ < std::int64_t{1} << 40) repetition_ *= 8;
  std::size_t const most = bound(std::max(most_asked_, asked_bytes_ + bytes));
  std::size_t const needed = used_bytes_ + bytes;
  trim(needed < most ? most - needed : 0);
}

SHARDTYPE_INLINE Buffer Pool::used(detail::Allocation* a, std::size_t asked, Use use) {
  a->asked = asked;
  a->counted = use == Use::blocks    ? &run_time.memory
               : use == Use::staging ? &run_time.staging
                                     : &run_time.workspace;
  detail::allow_bytes(*a, asked);
  a->counted->add(static_cast<std::int64_t>(asked));
  used_bytes_ += a->bytes;
  asked_bytes_ += rounded(asked);
  high_ = std::max(high_, asked_bytes_);
  risen_ = true;
  ++takes_;
  most_asked_ = std::max(most_asked_, asked_bytes_);
  most_held_ = std::max(most_held_, used_bytes_ + idle_bytes_);
  ++used_;
  return Buffer(a);
}

SHARDTYPE_INLINE void Pool::fallen() {
  low_ = std::min(low_, asked_bytes_);
  if (!risen_) {
    // still the fall before
    high_ = low_;
    if (rises_ == 0 && small_ == 0) peaks_[0] = low_;
    return;
  }
  since_ = std::min(since_, asked_bytes_);
  if (asked_bytes_ > low_ + (high_ - low_) / 4) {
    if (takes_ < span_) return;
    // no fall to where the rise began for long: some of what was taken stays
    low_ = std::exchange(since_, asked_bytes_);
    span_ = 3 * takes_;
    return;
  }
  peaks_[0] = std::max(peaks_[0], high_);
  small_ += high_ - low_;
  low_ = high_ = since_ = asked_bytes_;
  span_ = std::max<std::int64_t>(least_span, 2 * takes_);
  takes_ = 0;
  risen_ = false;
  if (small_ < (most_asked_ - std::min(most_asked_, asked_bytes_)) / 8) return;
  small_ = 0;
  if (++rises_ < repetition_) return;
  rises_ = 0;
  most_asked_ = std::max({asked_bytes_, peaks_[0], peaks_[1], peaks_[2]});
  peaks_[2] = peaks_[1];
  peaks_[1] = std::exchange(peaks_[0], asked_bytes_);
  std::size_t const most = bound(most_asked_);
  if (used_bytes_ + idle_bytes_ <= most) return;
  std::size_t const idle = idle_bytes_;
  trim(used_bytes_ < most ? most - used_bytes_ : 0);
  gave_back_ = gave_back_ || idle_bytes_ < idle;
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
    a->counted->subtract(static_cast<std::int64_t>(a->asked));
    used_bytes_ -= a->bytes;
    asked_bytes_ -= rounded(a->asked);
    detail::allow_bytes(*a, 0);
    keep(join(a));
    if (used_bytes_ + idle_bytes_ > spare) fallen();  // else no peak is too low for them
  }
  --used_;
  if (closed_) leave();
}

}  // namespace shardtype::runtime
