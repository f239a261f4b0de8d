#pragma once
/// Messages from one neighbour and to another in a fixed order, each with its own completion.

#include <cstddef>
#include <cstdint>

#include <mpi.h>

#include <shardtype/core/list.hpp>
#include <shardtype/runtime/comm.hpp>

namespace shardtype::runtime {

/// One direction round a ring of ranks. Messages are numbered in the order in which they are
/// posted, on both sides; an empty message is not sent but has a number.
class Stream {
 public:
  /// `tag`, 1 to 4, distinguishes streams between the same two ranks.
  Stream(Comm& comm, int from, int to, int tag)
      : comm_(comm.raw()),
        from_(from),
        to_(to),
        tag_(tag),
        received_(comm.stream(tag).received),
        sent_(comm.stream(tag).sent) {
    received_.clear();
    sent_.clear();
  }
  Stream(Stream const&) = delete;
  Stream& operator=(Stream const&) = delete;

  /// Posts the next receive: `n` elements, at most SendingLimits::largest_count.
  template <class T>
  void receive(T* data, std::int64_t n) {
    MPI_Request& r = received_.push_back(MPI_REQUEST_NULL);
    if (n > 0)
      runtime::check_mpi(
          MPI_Irecv(data, static_cast<int>(n), WireType<T>::get(), from_, tag_, comm_, &r),
          "MPI_Irecv");
  }
  template <class T>
  void send(T const* data, std::int64_t n) {
    MPI_Request& r = sent_.push_back(MPI_REQUEST_NULL);
    if (n > 0)
      runtime::check_mpi(
          MPI_Isend(data, static_cast<int>(n), WireType<T>::get(), to_, tag_, comm_, &r),
          "MPI_Isend");
  }
  /// Whether the next message has arrived; if so, counts it. Never waits.
  bool came() {
    auto const next = static_cast<std::size_t>(come_);
    if (next == received_.size() || !test(received_[next])) return false;
    ++come_;
    return true;
  }
  /// Number of messages that have arrived, in order.
  std::int64_t come() const { return come_; }
  /// Whether the memory of sent message `k` is free again. Never waits.
  bool gone(std::int64_t k) { return test(sent_[static_cast<std::size_t>(k)]); }
  /// Waits for all messages.
  void finish() {
    for (MPI_Request& r : received_) runtime::wait_for(r);
    for (MPI_Request& r : sent_) runtime::wait_for(r);
    come_ = static_cast<std::int64_t>(received_.size());
  }

 private:
  static bool test(MPI_Request& r) {
    if (r == MPI_REQUEST_NULL) return true;
    int done = 0;
    check_mpi(MPI_Test(&r, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  }

  MPI_Comm comm_;
  int from_;
  int to_;
  int tag_;
  std::int64_t come_ = 0;
  detail::List<MPI_Request>& received_;
  detail::List<MPI_Request>& sent_;
};

}  // namespace shardtype::runtime
