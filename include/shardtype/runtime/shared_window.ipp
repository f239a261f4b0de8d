#pragma once
/// Definitions of shared_window.hpp.

#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/node.hpp>
#include <shardtype/runtime/shared_window.hpp>

namespace shardtype::runtime {

SHARDTYPE_INLINE bool SharedWindow::everywhere(bool mine) const {
  return shardtype::detail::reduce_number(comm_, mine ? 1 : 0, MPI_MIN) != 0;
}

SHARDTYPE_INLINE SharedWindow::SharedWindow(Comm const& comm)
    : comm_(comm.raw()), rank_(comm.rank()), size_(comm.size()) {
  if (run_time.on_one_node) {
    possible_ = true;
    return;
  }
  MPI_Comm node = detail::ranks_of_node(comm_);
  int here = 0;
  MPI_Comm_size(node, &here);
  MPI_Comm_free(&node);
  possible_ = everywhere(here == size_);
}

SHARDTYPE_INLINE SharedWindow::~SharedWindow() {
  int ended = 0;
  MPI_Finalized(&ended);
  // not while an exception propagates, because other ranks do not get here
  if (window_ == MPI_WIN_NULL || ended != 0 || std::uncaught_exceptions() > exceptions_) return;
  if (run_time.node == nullptr) {  // no Environment: collective
    release();
    return;
  }
  // MPI_Win_free would wait for ranks that may wait for this one
  counters_[rank_].left.store(true);
  Left const mine{window_, made_, counters_, ranks_};
  if (mine.by_all()) give_back_pages();
  std::size_t at = left_.size();
  left_.push_back(mine);
  for (; at > 0 && left_[at - 1].made > made_; --at) std::swap(left_[at - 1], left_[at]);
}

SHARDTYPE_INLINE void SharedWindow::give_back_pages() {
#ifdef MADV_REMOVE
  auto const data = reinterpret_cast<std::uintptr_t>(data_);
  std::uintptr_t const begin = (data + page - 1) / page * page;
  std::uintptr_t const end = (data + static_cast<std::uintptr_t>(room_)) / page * page;
  // refused: they are given back with the addresses
  if (begin < end)
    static_cast<void>(madvise(reinterpret_cast<void*>(begin), end - begin, MADV_REMOVE));
#endif
}

SHARDTYPE_INLINE bool SharedWindow::Left::by_all() const {
  for (std::size_t g = 0; g < ranks.size(); ++g)
    if (!counters[g].left.load()) return false;
  return true;
}

SHARDTYPE_INLINE void SharedWindow::free_left(detail::List<int> const* ranks) {
  for (std::size_t k = 0; k < left_.size();) {
    if ((ranks != nullptr && !(left_[k].ranks == *ranks)) || !left_[k].by_all()) {
      ++k;
      continue;
    }
    MPI_Win_free(&left_[k].window);
    left_.erase(k);
  }
}

SHARDTYPE_INLINE bool SharedWindow::reserve(std::int64_t bytes) {
  core::RunningCall::check_thread();
  asked_ = bytes;
  if (window_ != MPI_WIN_NULL && bytes <= room_) return true;
  if (!possible_ || bytes >= refused_) return false;
  if (grow(bytes)) return true;
  refused_ = bytes;
  return false;
}

SHARDTYPE_INLINE void SharedWindow::enter() {
  for (int g = 0; g < size_; ++g) wait_until(g, count_);
  share_ = (asked_ + size_ - 1) / size_;
  run_time.memory.add(share_);
}

SHARDTYPE_INLINE void SharedWindow::wait_until(int g, std::int64_t count) const {
  for (int turn = 0; counters_[g].count.load(std::memory_order_acquire) < count; ++turn) {
    if (turn < 100) continue;
    if (run_time.yield_while_waiting) sched_yield();
    // lets MPI make progress, because a late rank may wait for a message from here
    int there = 0;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &there, MPI_STATUS_IGNORE),
              "MPI_Iprobe");
  }
}

SHARDTYPE_INLINE bool SharedWindow::room_for(std::int64_t bytes) {
  struct statvfs disk{};
  if (statvfs("/dev/shm", &disk) != 0) return true;
  return static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize) >
         1.1 * static_cast<double>(bytes);
}

SHARDTYPE_INLINE bool SharedWindow::grow(std::int64_t bytes) {
  ranks_ = detail::ranks_in_job(comm_);
  detail::begin_together(ranks_);
  release();
  if (!everywhere(room_for(bytes))) return false;
  free_left(&ranks_);  // all ranks are here
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
  new (&counters_[rank_]) Counter{{0}, {false}};
  static std::int64_t windows = 0;
  made_ = ++windows;
  count_ = 0;
  return everywhere(true);  // all ranks have set their counters
}

SHARDTYPE_INLINE void SharedWindow::release() {
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  room_ = 0;
  counters_ = nullptr;
  data_ = nullptr;
}

}  // namespace shardtype::runtime
