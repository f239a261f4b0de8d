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
#include <sys/mman.h>
#include <sys/statvfs.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/runtime/pool.hpp>

namespace shardtype::runtime {

class Comm;  // whose definitions use windows

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
///
/// Ranks that need not meet post how far they are instead, and wait for what others have posted.
class SharedWindow {
 public:
  /// `comm` must outlive the window. Collective.
  explicit SharedWindow(Comm const& comm);
  SharedWindow(SharedWindow const&) = delete;
  SharedWindow& operator=(SharedWindow const&) = delete;
  /// Waits for no rank: the memory goes back to the system when all have come here, its addresses
  /// at the next growth of a window of the same ranks or at the end of the Environment.
  ~SharedWindow();
  /// Frees the windows that all their ranks have left. Collective: no rank leaves a window
  /// meanwhile.
  static void free_left() { free_left(nullptr); }

  /// Whether all ranks share one node.
  bool possible() const { return possible_; }
  /// Makes room for `bytes` bytes, the same number on all ranks. False on all ranks if they do not
  /// share memory or the node has not enough memory.
  bool reserve(std::int64_t bytes);
  void* data() const { return data_; }

  /// Waits until all ranks have left. Until `leave`, this rank's share of the last reservation
  /// counts as in use.
  void enter();
  /// Waits until all of `group`, ranks of the communicator, have arrived; their earlier writes are
  /// visible afterwards.
  void meet(detail::List<int> const& group) {
    arrive();
    for (int g : group) wait_until(g, count_);
  }
  /// Publishes this rank's own progress in this use, by a number above those before it and above 0:
  /// what it wrote earlier is visible to ranks that have waited for it, what it read earlier may be
  /// overwritten.
  void post(std::int64_t step) {
    counters_[rank_].count.store(count_ + step, std::memory_order_release);
  }
  /// Waits until rank `g` of the communicator has posted `step` or a later number, or has left.
  void wait_for(int g, std::int64_t step) const { wait_until(g, count_ + step); }
  /// This rank neither reads nor writes until the next `enter`. Never waits. `steps`: the largest
  /// number that any rank may have posted, the same on all ranks.
  void leave(std::int64_t steps = 0) {
    count_ += steps;
    arrive();
    run_time.memory.subtract(std::exchange(share_, 0));
  }

 private:
  /// The progress of one rank; padded to separate cache lines.
  struct alignas(128) Counter {
    std::atomic<std::int64_t> count;
    std::atomic<bool> left{false};  ///< by the destructor
  };
  /// A window that its owner has left.
  struct Left {
    MPI_Win window = MPI_WIN_NULL;
    std::int64_t made = 0;
    Counter* counters = nullptr;
    detail::List<int> ranks;  ///< of the job

    bool by_all() const;
  };

  void arrive() { counters_[rank_].count.store(++count_, std::memory_order_release); }
  void wait_until(int g, std::int64_t count) const;

  /// Whether `mine` is true on all ranks.
  bool everywhere(bool mine) const;
  /// Whether there is room for a window, if windows are files in memory.
  static bool room_for(std::int64_t bytes);

  /// Only those of these ranks, unless it is null.
  static void free_left(detail::List<int> const* ranks);

  /// The memory of a window that all ranks have left, for which the last one needs nobody.
  void give_back_pages();

  bool grow(std::int64_t bytes);
  void release();

  static constexpr std::size_t page = 4096;

  MPI_Comm comm_;
  int rank_;
  int size_;
  bool possible_ = false;
  int exceptions_ = std::uncaught_exceptions();
  MPI_Win window_ = MPI_WIN_NULL;
  std::int64_t made_ = 0;    ///< its number among this rank's windows
  detail::List<int> ranks_;  ///< of the job
  std::int64_t count_ = 0;
  std::int64_t room_ = 0;
  std::int64_t asked_ = 0;  ///< requested by the last `reserve`
  std::int64_t share_ = 0;  ///< this rank's share of it, while in use
  std::int64_t refused_ = INT64_MAX;
  Counter* counters_ = nullptr;
  void* data_ = nullptr;

  static inline detail::List<Left>
      left_;  // NOLINT(readability-identifier-naming): rising in `made`
};

}  // namespace shardtype::runtime

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/shared_window.ipp>
#endif
