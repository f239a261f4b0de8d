#pragma once
/// Memory that the ranks of one communicator share, where they are on one node.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>

#include <mpi.h>
#include <sched.h>
#include <sys/statvfs.h>

#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/pool.hpp>

namespace shardtype {

namespace detail {

/// Bytes that this rank has exchanged through windows, counted as plans count them. For tests.
inline std::int64_t window_bytes = 0;

}  // namespace detail

/// An MPI-3 shared window that grows as needed and is kept. Every rank writes its part, all meet, all read.
/// Ranks meet by counters within the window, which costs a microsecond where a barrier by messages costs ten.
///
///     if (!window.reserve(bytes)) ...   // collective, the same on all ranks
///     window.enter();                   // what lay here is read by everybody
///     ... write own part ...
///     window.meet();
///     ... read ...
///     window.leave();
class SharedWindow {
 public:
  /// `comm` must live as long.
  explicit SharedWindow(Comm const& comm)
      : comm_(comm.raw()), rank_(comm.rank()), size_(comm.size()) {}
  SharedWindow(SharedWindow const&) = delete;
  SharedWindow& operator=(SharedWindow const&) = delete;
  /// Collective where `reserve` gave memory.
  ~SharedWindow() {
    int ended = 0;
    MPI_Finalized(&ended);
    // others do not come here while an exception flies
    if (ended == 0 && std::uncaught_exceptions() == 0) release();
  }

  /// Makes room for `bytes` bytes, the same number on all ranks. False on all ranks if they do not share
  /// memory or the node has no room left for as much.
  bool reserve(std::int64_t bytes) {
    if (bytes <= room_) return true;
    if (bytes >= refused_) return false;
    if (grow(bytes)) return true;
    refused_ = bytes;
    return false;
  }
  void* data() const { return data_; }

  /// Waits until all ranks have left.
  void enter() { wait_for_all(); }
  /// Waits until all ranks are here; what they wrote before is seen after.
  void meet() {
    leave();
    wait_for_all();
  }
  /// Nothing is read or written here any more until the next `enter`. Never waits.
  void leave() { mine().count.store(++count_, std::memory_order_release); }

 private:
  /// Where one rank is; a cache line or two for each.
  struct alignas(128) Counter {
    std::atomic<std::int64_t> count;
  };

  Counter& counter(int rank) const { return counters_[rank]; }
  Counter& mine() const { return counter(rank_); }

  void wait_for_all() {
    for (int g = 0; g < size_; ++g)
      for (int turn = 0; counter(g).count.load(std::memory_order_acquire) < count_; ++turn) {
        if (turn < 100) continue;
        if (shardtype::detail::yield_while_waiting) sched_yield();
        // a rank that is late may wait for what MPI sends from here
        int there = 0;
        check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &there, MPI_STATUS_IGNORE),
                  "MPI_Iprobe");
      }
  }

  /// Whether all ranks of `comm_` are on one node, where `bytes` bytes are free.
  bool possible(std::int64_t bytes) const {
    MPI_Comm node = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
              "MPI_Comm_split_type");
    int here = 0;
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    struct statvfs disk{};
    bool const room = statvfs("/dev/shm", &disk) != 0 ||  // not where this system keeps it
                      static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize) >
                          1.1 * static_cast<double>(bytes);
    return everywhere(here == size_ && room);
  }

  /// Whether `mine` holds on all ranks.
  bool everywhere(bool mine) const {
    return shardtype::detail::reduce_number(comm_, mine ? 1 : 0, MPI_MIN) != 0;
  }

  bool grow(std::int64_t bytes) {
    release();
    if (!possible(bytes)) return false;
    std::size_t const front =
        (static_cast<std::size_t>(size_) * sizeof(Counter) + page - 1) / page * page;
    void* base = nullptr;
    std::size_t const all = front + static_cast<std::size_t>(bytes);
    check_mpi(MPI_Win_allocate_shared(rank_ == 0 ? static_cast<MPI_Aint>(all) : 0, 1, MPI_INFO_NULL,
                                      comm_, &base, &window_),
              "MPI_Win_allocate_shared");
    MPI_Aint size = 0;
    int unit = 0;
    check_mpi(MPI_Win_shared_query(window_, 0, &size, &unit, &base), "MPI_Win_shared_query");
    detail::ask_for_huge_pages(base, all);
    counters_ = static_cast<Counter*>(base);
    data_ = static_cast<std::byte*>(base) + front;
    room_ = bytes;
    new (&mine()) Counter{{0}};
    count_ = 0;
    return everywhere(true);  // all have set their counters
  }
  void release() {
    if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
    room_ = 0;
  }

  static constexpr std::size_t page = 4096;

  MPI_Comm comm_;
  MPI_Win window_ = MPI_WIN_NULL;
  int rank_;
  int size_;
  std::int64_t count_ = 0;
  std::int64_t room_ = 0;
  std::int64_t refused_ = INT64_MAX;
  Counter* counters_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace shardtype
