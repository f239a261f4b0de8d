#pragma once
/// Seconds that this rank spends in each collective, for SHARDTYPE_TRACE.

#include <cstddef>

#include <mpi.h>

#include <shardtype/plan/collective.hpp>
#include <shardtype/runtime/run_time.hpp>

namespace shardtype::runtime {

/// While it exists, the time of this rank counts as that of a collective; without a trace it does
/// nothing.
class TimedCollective {
 public:
  explicit TimedCollective(planning::Collective c)
      : collective_(c), begin_(run_time.trace == nullptr ? 0 : MPI_Wtime()) {}
  TimedCollective(TimedCollective const&) = delete;
  TimedCollective& operator=(TimedCollective const&) = delete;
  ~TimedCollective() {
    if (run_time.trace != nullptr)
      run_time.in_collective[static_cast<std::size_t>(collective_)] += MPI_Wtime() - begin_;
  }

 private:
  planning::Collective collective_;
  double begin_;
};

}  // namespace shardtype::runtime
