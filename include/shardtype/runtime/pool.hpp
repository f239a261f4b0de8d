#pragma once
/// Memory for local blocks: taken from the mesh's pool, and returned when the last tensor releases
/// it; or the user's own, which stays the user's.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <Kokkos_Core.hpp>
#include <sys/mman.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/run_time.hpp>
#include <shardtype/runtime/small_blocks.hpp>

namespace shardtype::runtime {

class Buffer;
class Pool;

/// Error E27: the system cannot provide `bytes` bytes for the tensor that is being made; this
/// rank's tensors hold `in_use`.
[[noreturn]] void throw_no_memory(std::size_t bytes, std::int64_t in_use);

}  // namespace shardtype::runtime

namespace shardtype {

namespace detail {

struct Allocation;

/// The key of a block in the cache.
struct BlockSize {
  void (*release)(void*) = nullptr;  ///< of its memory space
  std::size_t bytes = 0;

  static inline std::int64_t compared = 0;

  friend bool operator<(BlockSize const& a, BlockSize const& b) {
    ++compared;
    return a.release != b.release ? std::less<>()(a.release, b.release) : a.bytes < b.bytes;
  }
};
/// The cached blocks of one size.
struct IdleBlocks {
  BlockSize size{};
  Allocation* oldest = nullptr;
  Allocation* newest = nullptr;
};

/// One allocation, with the number of its holders.
struct Allocation {
  void* data = nullptr;
  std::size_t bytes = 0;
  std::size_t absent = 0;  ///< of a cached one: bytes that the system has got back, or fewer
  std::size_t asked = 0;   ///< bytes requested for its current use
  std::shared_ptr<void> writing{};                       ///< shared with the views that write to it
  runtime::Buffer (*copy)(Allocation const&) = nullptr;  ///< Pool::copy of its memory space
  std::atomic<int> holders{0};
  void (*release)(void*) = nullptr;  ///< Kokkos::kokkos_free of its memory space; null: the user's
  bool read_only = false;            ///< the user's const memory
  runtime::BytesInUse* counted = nullptr;  ///< what counts it while it is in use
  Pool* home = nullptr;
  Allocation* next = nullptr;      ///< in a list of allocations that outlived Kokkos, or that other
                                   ///< threads have released, or that are cached, oldest first
  Allocation* previous = nullptr;  ///< in the last one
  Allocation* next_alike = nullptr;  ///< the next cached one of this size
  Allocation* previous_alike = nullptr;
  Allocation* below = nullptr;  ///< the other parts of this memory of the system beside it
  Allocation* above = nullptr;
  bool cached = false;

  bool whole() const { return below == nullptr && above == nullptr; }
  /// An object of the small blocks: parts come and go with each use.
  static void* operator new(std::size_t bytes) { return runtime::take_small(bytes); }
  static void operator delete(void* a, std::size_t bytes) { runtime::give_back_small(a, bytes); }
};

/// Asks for huge pages for large host memory: products and packing access many rows at once, and
/// each row would be a page of its own.
void ask_for_huge_pages(void* data, std::size_t bytes);

template <class Space>
void release_memory(void* data) {
  Kokkos::kokkos_free<Space>(data);
}
/// Of memory that is divided into parts. Another function, so that no other request gets a part.
inline void release_divided(void* data) { Kokkos::kokkos_free<Kokkos::HostSpace>(data); }
/// Whether requests of so many bytes of `Space` get parts of memory: those of pages of the host,
/// which the system takes back a page at a time.
template <class Space>
constexpr bool divided(std::size_t bytes) {
  return std::is_same_v<Space, Kokkos::HostSpace> && bytes >= std::size_t{64} << 10;
}

}  // namespace detail

}  // namespace shardtype

namespace shardtype::runtime {

/// Shared ownership of one allocation. Copies count holders; the last one returns the memory to the
/// pool.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(detail::Allocation* a) : allocation_(a) { hold(); }
  Buffer(Buffer const& other) : allocation_(other.allocation_) { hold(); }
  Buffer(Buffer&& other) noexcept : allocation_(std::exchange(other.allocation_, nullptr)) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(allocation_, other.allocation_);
    return *this;
  }
  /// Not inline, because every function that holds a Buffer would pay for its code in compile time.
  [[gnu::noinline]] ~Buffer() { drop(); }

  void* data() const { return allocation_ == nullptr ? nullptr : allocation_->data; }
  std::size_t bytes() const { return allocation_ == nullptr ? 0 : allocation_->bytes; }
  /// Number of holders of this memory; 0 for an empty Buffer. The user holds const memory too, so
  /// that whoever writes only what nobody else holds does not write that.
  int holders() const {
    return allocation_ == nullptr ? 0 : allocation_->holders.load() + (read_only() ? 1 : 0);
  }
  /// Whether this is const memory of the user.
  bool read_only() const { return allocation_ != nullptr && allocation_->read_only; }

  /// A token that a view that writes to this memory keeps while it exists.
  std::shared_ptr<void> write() const;
  /// Whether such a view exists.
  bool written() const {
    return allocation_ != nullptr && allocation_->writing != nullptr &&
           allocation_->writing.use_count() > 1;
  }
  /// Copies the contents to memory of its own if another Buffer holds this memory and a view writes
  /// to it.
  void part_from_writer() {
    if (written() && holders() > 1) *this = allocation_->copy(*allocation_);
  }

 private:
  void hold() {
    if (allocation_ != nullptr) allocation_->holders.fetch_add(1, std::memory_order_relaxed);
  }
  inline void drop();

  detail::Allocation* allocation_ = nullptr;
};

/// Caches released allocations for the next operation, so that a steady loop allocates nothing.
/// Large memory of the host is divided among requests and joined again, so that blocks of one size
/// serve requests of others. The bytes it holds, in use and cached, are at most `bound` of the most
/// asked for at a time within this repetition and the last three; cached memory is released before
/// that is exceeded, and when an allocation fails. A repetition is a rise and fall of the bytes
/// asked for, small ones counting together as one when they come to an eighth of the peak; it is
/// eight times as many whenever memory is needed that was given back at the end of one. Exists
/// until its owner is gone and all memory taken from it has been returned. For one thread; other
/// threads may release memory.
class Pool {
 public:
  /// Creates a pool, and closes it at its own end.
  class Owner {
   public:
    Owner() : pool_(new Pool) {}
    Owner(Owner const&) = delete;
    Owner& operator=(Owner const&) = delete;
    ~Owner() { pool_->close(); }
    Pool& operator*() const { return *pool_; }

   private:
    Pool* pool_;
  };

  Pool(Pool const&) = delete;
  Pool& operator=(Pool const&) = delete;

  /// What memory is for: blocks and their messages; messages in the host's memory, of blocks that
  /// MPI cannot access; or what kernels of a device need besides blocks: tables and partial
  /// results.
  enum class Use { blocks, staging, workspace };
  /// At least `asked` bytes of uninitialized memory of `Space`, counted in `run_time.memory`,
  /// `run_time.staging` or `run_time.workspace`. Error E27: the system has none.
  template <class Space>
  Buffer take(std::size_t asked, Use use = Use::blocks);

  /// The user's own memory of `Space`, `bytes` bytes at `data`: neither counted nor freed here,
  /// and, if `read_only`, not written. It may be null if it has no bytes.
  template <class Space>
  Buffer borrow(void* data, std::size_t bytes, bool read_only);

  /// Releases cached memory until at most `keep` bytes are cached.
  void trim(std::size_t keep = 0);

  std::size_t used_bytes() const { return used_bytes_; }
  std::size_t idle_bytes() const { return idle_bytes_; }
  /// The most that it has held so far, in use and cached.
  std::size_t most_held_bytes() const { return most_held_; }
  /// The most bytes that were asked for at a time within this repetition and the last three.
  std::size_t most_asked_bytes() const { return most_asked_; }
  /// The most bytes that a pool may hold if at most `asked` bytes were asked for at a time: an
  /// eighth and 1 MiB more, for blocks that are larger than their use, and for cached ones.
  static constexpr std::size_t bound(std::size_t asked) { return asked + asked / 8 + spare; }
  /// Number of allocations from the system so far.
  std::size_t allocations() const { return allocations_; }
  /// Number of comparisons of sizes so far, in all pools: what lookups of cached blocks cost.
  static std::int64_t comparisons() { return detail::BlockSize::compared; }

 private:
  friend class Buffer;

  Pool() = default;
  ~Pool() = default;

  /// No more memory will be taken.
  void close() {
    collect();
    closed_ = true;
    leave();
  }
  void leave() {
    trim();
    if (used_ == 0) delete this;
  }

  /// New memory with the same contents.
  template <class Space>
  static Buffer copy(detail::Allocation const& of) {
    Buffer out = of.home->take<Space>(of.asked);
    runtime::copy_bytes<Space, Space>(out.data(), of.data, of.asked);
    return out;
  }
  template <class Space>
  void* from_system(std::size_t bytes) {
    for (;;) {
      try {
        return Kokkos::kokkos_malloc<Space>("shardtype", bytes);
      } catch (...) {
        std::size_t const idle = idle_bytes_;
        trim();
        if (idle_bytes_ == idle) throw_no_memory(bytes, run_time.memory.now());
      }
    }
  }
  static constexpr std::size_t spare = std::size_t{1} << 20;
  static constexpr std::size_t most_page = std::size_t{64} << 10;  ///< of a usual page

  /// The bytes that a request counts for: whole lines of the cache, so that the parts of divided
  /// memory begin at lines.
  static constexpr std::size_t rounded(std::size_t asked) {
    return asked <= 64 ? 64 : (asked + 63) / 64 * 64;
  }
  Buffer used(detail::Allocation* a, std::size_t asked, Use use);
  /// The smallest cached block of at least so many bytes, of those the oldest, which leaves the
  /// cache; null if there is none or it does not serve. Of divided memory, a part of so many bytes
  /// of the first in memory.
  detail::Allocation* cached(detail::BlockSize const& least);
  /// Divides a block that has left the cache: what is behind its first `bytes` bytes is cached.
  void divide(detail::Allocation* a, std::size_t bytes);
  /// A block that is about to be cached, joined with the cached parts beside it.
  detail::Allocation* join(detail::Allocation* a);
  void keep(detail::Allocation* a);
  /// Where in `idle_` the first size is that is not less than this one.
  std::size_t place_of(detail::BlockSize const& size) const;
  /// A block of the size at `place` leaves the cache.
  void take_out(std::size_t place, detail::Allocation* a);
  void take_out(detail::Allocation* a) { take_out(place_of({a->release, a->bytes}), a); }
  /// Fewer bytes are asked for: a rise and fall has ended if they are far below its peak. The last
  /// one of a repetition gives back what the last repetitions did not need.
  void fallen();
  /// Whether a cached block may be used for `bytes`: one that is much larger is kept for a larger
  /// request.
  bool serves(detail::Allocation const& a, std::size_t bytes) const {
    if (a.release == &detail::release_divided) return true;
    std::size_t const asked = asked_bytes_ + bytes;
    std::size_t const most = std::max(most_asked_, asked);
    return a.bytes / 2 <= bytes && used_bytes_ + a.bytes - asked <= bound(most) - most;
  }
  /// Makes room for a new block of so many bytes.
  void make_room(std::size_t bytes);
  /// Gives back what other threads have released.
  void collect();
  static void destroy(detail::Allocation* a);
  void give_back(detail::Allocation* a);

  static inline detail::Allocation* outlived = nullptr;

  std::atomic<detail::Allocation*> elsewhere_{nullptr};  ///< what other threads have released
  detail::List<detail::IdleBlocks> idle_;  ///< by size, without sizes of which there is no block
  detail::Allocation* oldest_ = nullptr;   ///< of the cached blocks
  detail::Allocation* newest_ = nullptr;
  std::size_t left_ = 0;   ///< bytes of divided memory that the last request gave back
  std::int64_t used_ = 0;  ///< number of allocations in use, and of borrowed ones
  bool closed_ = false;
  std::size_t idle_bytes_ = 0;
  std::size_t used_bytes_ = 0;
  std::size_t asked_bytes_ = 0;  ///< of the allocations in use
  std::size_t most_asked_ = 0;   ///< within this repetition and the last three
  std::size_t peaks_[3]{};       ///< of this repetition, and of the last two, newest first
  static constexpr std::int64_t least_span = 16;
  std::size_t low_ = 0;     ///< about the least bytes asked for since the last rise and fall
  std::size_t since_ = 0;   ///< the least since `low_` was last corrected
  std::size_t high_ = 0;    ///< the most since the last rise and fall
  bool risen_ = false;      ///< whether memory was taken since then
  std::int64_t takes_ = 0;  ///< how often
  std::int64_t span_ = least_span;  ///< after how many `low_` is corrected
  std::size_t small_ = 0;           ///< heights of rises and falls that have not been counted yet
  std::int64_t rises_ = 0;          ///< within this repetition
  std::int64_t repetition_ = 1;     ///< rises and falls of one
  bool gave_back_ = false;          ///< because repetitions ended, and none was taken since
  std::size_t most_held_ = 0;
  std::size_t allocations_ = 0;
};

// Not `inline`: see core/compiled.hpp.

template <class Space>
Buffer Pool::take(std::size_t asked, Use use) {
  std::size_t const bytes = rounded(asked);
  if (elsewhere_.load(std::memory_order_relaxed) != nullptr) collect();
  auto const release =
      detail::divided<Space>(bytes) ? &detail::release_divided : &detail::release_memory<Space>;
  if (detail::Allocation* const a = cached({release, bytes})) return used(a, asked, use);
  left_ = 0;
  make_room(bytes);
  std::size_t const whole = detail::divided<Space>(bytes) ? std::max(bytes, left_) : bytes;
  auto* a = new detail::Allocation;
  a->data = from_system<Space>(whole);
  if constexpr (runtime::host_reads<Space>) detail::ask_for_huge_pages(a->data, whole);
  a->bytes = whole;
  a->release = release;
  a->copy = &copy<Space>;
  a->home = this;
  ++allocations_;
  if (whole > bytes) {
    a->absent = whole;
    divide(a, bytes);
  }
  return used(a, asked, use);
}

template <class Space>
Buffer Pool::borrow(void* data, std::size_t bytes, bool read_only) {
  auto* a = new detail::Allocation;
  a->data = data != nullptr ? data : a;  // nothing is read there, but functions of C refuse null
  a->bytes = a->asked = bytes;
  a->copy = &copy<Space>;
  a->read_only = read_only;
  a->home = this;
  ++used_;
  return Buffer(a);
}

inline std::shared_ptr<void> Buffer::write() const {
  if (allocation_ == nullptr) return nullptr;
  if (allocation_->writing == nullptr) allocation_->writing = std::make_shared<char>();
  return allocation_->writing;
}

inline void Buffer::drop() {
  if (allocation_ == nullptr || allocation_->holders.fetch_sub(1) != 1) return;
  allocation_->home->give_back(allocation_);
}

}  // namespace shardtype::runtime

#ifdef SHARDTYPE_COMPILED
namespace shardtype::runtime {
extern template Buffer Pool::take<Kokkos::HostSpace>(std::size_t asked, Use use);
}  // namespace shardtype::runtime
#else
#include <shardtype/runtime/pool.ipp>
#endif
