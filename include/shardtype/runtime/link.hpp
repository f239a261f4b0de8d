#pragma once
/// The union of the ranks of two meshes, for transfers between them.

#include <cstdint>
#include <exception>
#include <utility>

#include <mpi.h>

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
  static int place(detail::List<int> const& ranks, int rank) {
    int low = 0;
    int high = static_cast<int>(ranks.size());
    while (high - low > 1) {
      int const middle = (low + high) / 2;
      (ranks[static_cast<std::size_t>(middle)] <= rank ? low : high) = middle;
    }
    return low;
  }

 private:
  static MPI_Comm make(detail::List<int> const& ranks) {
    core::RunningCall::check_thread();
    detail::begin_together(ranks);
    Agreement::meet_before_mesh(ranks, "the first transfer between two meshes", 1);
    MPI_Group job = MPI_GROUP_NULL;
    MPI_Group members = MPI_GROUP_NULL;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &job);
    MPI_Group_incl(job, static_cast<int>(ranks.size()), ranks.data(), &members);
    int const status = MPI_Comm_create_group(MPI_COMM_WORLD, members, tag, &made);
    MPI_Group_free(&members);
    MPI_Group_free(&job);
    check_mpi(status, "MPI_Comm_create_group");
    return made;
  }

  static constexpr int tag = 7253;  ///< of the messages that create the communicator

  detail::List<int> ranks_;
  Comm comm_;
  Agreement agreement_;
};

}  // namespace shardtype::runtime
