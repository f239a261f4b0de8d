#pragma once
/// Memory shared by the ranks of one communicator, if they are on one node.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include <mpi.h>
#include <sched.h>
#include <sys/statvfs.h>

#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/pool.hpp>

namespace shardtype::runtime {

/// An MPI-3 shared window of all ranks of a mesh, which grows as needed and is kept. In each use
/// every rank of a group writes its part of the group's area, the ranks synchronize, and read.
/// Ranks synchronize by counters in the window, which takes a microsecond where a barrier by
/// messages takes ten. All ranks of the mesh must use it equally often.
///
///     if (!window.reserve(bytes)) ...   // collective, the same on all ranks
///     window.enter();                   // all ranks have read the previous contents
///     ... write own part ...
///     window.meet(group);
///     ... read ...
///     window.leave();
class SharedWindow {
 public:
  /// `comm` must outlive the window. Collective.
  explicit SharedWindow(Comm const& comm)
      : comm_(comm.raw()), rank_(comm.rank()), size_(comm.size()) {
    if (run_time.on_one_node) {
      possible_ = true;
      return;
    }
    MPI_Comm node = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node),
              "MPI_Comm_split_type");
    int here = 0;
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    possible_ = everywhere(here == size_);
  }
  SharedWindow(SharedWindow const&) = delete;
  SharedWindow& operator=(SharedWindow const&) = delete;
  /// Collective if `reserve` gave memory.
  ~SharedWindow() {
    int ended = 0;
    MPI_Finalized(&ended);
    // not collective while an exception propagates, because other ranks do not get here
    if (ended == 0 && std::uncaught_exceptions() <= exceptions_) release();
  }

  /// Whether all ranks share one node.
  bool possible() const { return possible_; }
  /// Makes room for `bytes` bytes, the same number on all ranks. False on all ranks if they do not
  /// share memory or the node has not enough memory.
  bool reserve(std::int64_t bytes) {
    asked_ = bytes;
    if (window_ != MPI_WIN_NULL && bytes <= room_) return true;
    if (!possible_ || bytes >= refused_) return false;
    if (grow(bytes)) return true;
    refused_ = bytes;
    return false;
  }
  void* data() const { return data_; }

  /// Waits until all ranks have left. Until `leave`, this rank's share of the last reservation
  /// counts as in use.
  void enter() {
    for (int g = 0; g < size_; ++g) wait_for_rank(g);
    share_ = (asked_ + size_ - 1) / size_;
    run_time.memory.add(share_);
  }
  /// Waits until all of `group`, ranks of the communicator, have arrived; their earlier writes are
  /// visible afterwards.
  void meet(detail::List<int> const& group) {
    arrive();
    for (int g : group) wait_for_rank(g);
  }
  /// This rank neither reads nor writes until the next `enter`. Never waits.
  void leave() {
    arrive();
    run_time.memory.subtract(std::exchange(share_, 0));
  }

 private:
  /// The progress of one rank; padded to separate cache lines.
  struct alignas(128) Counter {
    std::atomic<std::int64_t> count;
  };

  void arrive() { counters_[rank_].count.store(++count_, std::memory_order_release); }
  void wait_for_rank(int g) const {
    for (int turn = 0; counters_[g].count.load(std::memory_order_acquire) < count_; ++turn) {
      if (turn < 100) continue;
      if (run_time.yield_while_waiting) sched_yield();
      // lets MPI make progress, because a late rank may wait for a message from here
      int there = 0;
      check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &there, MPI_STATUS_IGNORE),
                "MPI_Iprobe");
    }
  }

  /// Whether `mine` is true on all ranks.
  bool everywhere(bool mine) const {
    return shardtype::detail::reduce_number(comm_, mine ? 1 : 0, MPI_MIN) != 0;
  }
  /// Whether there is room for a window, if windows are files in memory.
  static bool room_for(std::int64_t bytes) {
    struct statvfs disk{};
    if (statvfs("/dev/shm", &disk) != 0) return true;
    return static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize) >
           1.1 * static_cast<double>(bytes);
  }

  bool grow(std::int64_t bytes) {
    release();
    if (!everywhere(room_for(bytes))) return false;
    std::size_t const front =
        (static_cast<std::size_t>(size_) * sizeof(Counter) + page - 1) / page * page;
    std::size_t const all = front + static_cast<std::size_t>(bytes);
    void* base = nullptr;
    check_mpi(MPI_Win_allocate_shared(rank_ == 0 ? static_cast<MPI_Aint>(all) : 0, 1, MPI_INFO_NULL,
                                      comm_, &base, &window_),
              "MPI_Win_allocate_shared");
    MPI_Aint size = 0;
    int unit = 0;
    check_mpi(MPI_Win_shared_query(window_, 0, &size, &unit, &base), "MPI_Win_shared_query");
    counters_ = static_cast<Counter*>(base);
    data_ = static_cast<std::byte*>(base) + front;
    room_ = bytes;
    // Touches the pages now, while there is room; later users then see the memory that remains.
    std::int64_t const each = (bytes + size_ - 1) / size_;
    std::int64_t const begin = std::min(bytes, rank_ * each);
    std::memset(static_cast<std::byte*>(data_) + begin, 0,
                static_cast<std::size_t>(std::min(bytes - begin, each)));
    new (&counters_[rank_]) Counter{{0}};
    count_ = 0;
    return everywhere(true);  // all ranks have set their counters
  }
  void release() {
    if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
    room_ = 0;
    counters_ = nullptr;
    data_ = nullptr;
  }

  static constexpr std::size_t page = 4096;

  MPI_Comm comm_;
  int rank_;
  int size_;
  bool possible_ = false;
  int exceptions_ = std::uncaught_exceptions();
  MPI_Win window_ = MPI_WIN_NULL;
  std::int64_t count_ = 0;
  std::int64_t room_ = 0;
  std::int64_t asked_ = 0;  ///< requested by the last `reserve`
  std::int64_t share_ = 0;  ///< this rank's share of it, while in use
  std::int64_t refused_ = INT64_MAX;
  Counter* counters_ = nullptr;
  void* data_ = nullptr;
};

}  // namespace shardtype::runtime
