#pragma once
/// The union of the ranks of two meshes, for transfers between them.

#include <cstdint>
#include <exception>
#include <utility>

#include <mpi.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/runtime/agreement.hpp>
#include <shardtype/runtime/comm.hpp>

namespace shardtype::runtime {

/// A communicator over given ranks of the job; other ranks take no part in its creation.
class Link {
 public:
  /// Collective over `ranks` of the job, in increasing order.
  explicit Link(detail::List<int> ranks) : ranks_(std::move(ranks)), comm_(make(ranks_)) {
    agreement_.start(comm_.raw());
  }
  Link(Link const&) = delete;
  Link& operator=(Link const&) = delete;
  ~Link() {
    if (agreement_.on() && std::uncaught_exceptions() == 0) agreement_.meet("end", 0);
  }

  /// The members as ranks of the job; member k is rank k of `comm()`.
  detail::List<int> const& ranks() const { return ranks_; }
  Comm& comm() { return comm_; }
  Agreement& agreement() { return agreement_; }

  /// The index of a rank of the job in `ranks`, which are in increasing order.
  static int place(detail::List<int> const& ranks, int rank);

 private:
  static MPI_Comm make(detail::List<int> const& ranks);

  static constexpr int tag = 7253;  ///< of the messages that create the communicator

  detail::List<int> ranks_;
  Comm comm_;
  Agreement agreement_;
};

}  // namespace shardtype::runtime

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/link.ipp>
#endif
