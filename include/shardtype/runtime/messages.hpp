#pragma once
/// Messages of any length from rank to rank.

#include <algorithm>
#include <cstdint>

#include <mpi.h>

#include <shardtype/core/list.hpp>
#include <shardtype/runtime/wait.hpp>
#include <shardtype/runtime/wire_type.hpp>

namespace shardtype::runtime {

/// `n` elements at `data` that are sent to, or received from, rank `rank` of a communicator.
template <class T>
struct Message {
  int rank = 0;
  T* data = nullptr;
  std::int64_t n = 0;
};

}  // namespace shardtype::runtime

namespace shardtype {

namespace detail {

/// Calls `body(at, count)` for the pieces of `n` elements.
template <class Body>
void for_pieces(std::int64_t n, Body body) {
  std::int64_t const most = run_time.sending().largest_count;
  for (std::int64_t at = 0; at < n; at += most) body(at, static_cast<int>(std::min(most, n - at)));
}

/// Pending messages, and other pending calls of MPI.
class Messages {
 public:
  template <class T>
  void receive(MPI_Comm comm, Message<T> const& m) {
    detail::for_pieces(m.n, [&](std::int64_t at, int count) {
      runtime::check_mpi(
          MPI_Irecv(m.data + at, count, WireType<T>::get(), m.rank, 0, comm, &next()), "MPI_Irecv");
    });
  }
  template <class T>
  void send(MPI_Comm comm, Message<T const> const& m) {
    detail::for_pieces(m.n, [&](std::int64_t at, int count) {
      runtime::check_mpi(
          MPI_Isend(m.data + at, count, WireType<T>::get(), m.rank, 0, comm, &next()), "MPI_Isend");
    });
  }
  /// The request for a call that is about to start.
  MPI_Request& next() { return requests_.push_back(MPI_REQUEST_NULL); }
  /// Lets MPI make progress; returns whether all are done.
  bool poke() {
    int done = 1;
    if (!requests_.empty())
      check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                            MPI_STATUSES_IGNORE),
                "MPI_Testall");
    if (done != 0) requests_.clear();
    return done != 0;
  }
  /// Waits for all.
  void finish() {
    for (MPI_Request& r : requests_) runtime::wait_for(r);
    requests_.clear();
  }

 private:
  List<MPI_Request> requests_;
};

}  // namespace detail

}  // namespace shardtype
