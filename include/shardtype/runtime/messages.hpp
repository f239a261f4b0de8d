#pragma once
/// Messages from rank to rank, of any length.

#include <algorithm>
#include <climits>
#include <cstdint>

#include <mpi.h>

#include <shardtype/core/list.hpp>
#include <shardtype/runtime/wait.hpp>
#include <shardtype/runtime/wire_type.hpp>

namespace shardtype::runtime {

/// `n` elements at `data` that go to, or come from, rank `rank` of a communicator.
template <class T>
struct Message {
  int rank = 0;
  T* data = nullptr;
  std::int64_t n = 0;
};

}  // namespace shardtype::runtime

namespace shardtype {

namespace detail {

/// Most elements in one MPI call; larger ones go in pieces. Lowered by tests only.
inline std::int64_t largest_count = INT_MAX;

/// Calls `body(at, count)` for the pieces of `n` elements.
template <class Body>
void for_pieces(std::int64_t n, Body body) {
  for (std::int64_t at = 0; at < n; at += largest_count)
    body(at, static_cast<int>(std::min(largest_count, n - at)));
}

/// Messages, and other calls of MPI, that are under way.
class Messages {
 public:
  template <class T>
  void receive(MPI_Comm comm, Message<T> const& m) {
    for_pieces(m.n, [&](std::int64_t at, int count) {
      check_mpi(MPI_Irecv(m.data + at, count, WireType<T>::get(), m.rank, 0, comm, &next()),
                "MPI_Irecv");
    });
  }
  template <class T>
  void send(MPI_Comm comm, Message<T const> const& m) {
    for_pieces(m.n, [&](std::int64_t at, int count) {
      check_mpi(MPI_Isend(m.data + at, count, WireType<T>::get(), m.rank, 0, comm, &next()),
                "MPI_Isend");
    });
  }
  /// The request of a call that is about to start.
  MPI_Request& next() { return requests_.push_back(MPI_REQUEST_NULL); }
  /// Lets MPI work on them; whether all are done.
  bool poke() {
    int done = 1;
    if (!requests_.empty())
      check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done,
                            MPI_STATUSES_IGNORE),
                "MPI_Testall");
    if (done != 0) requests_.clear();
    return done != 0;
  }
  /// Waits for all of them.
  void finish() {
    for (MPI_Request& r : requests_) wait_for(r);
    requests_.clear();
  }

 private:
  List<MPI_Request> requests_;
};

}  // namespace detail

}  // namespace shardtype
