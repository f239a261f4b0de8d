#pragma once
/// Definitions that need error.hpp.

#include <shardtype/core/error.hpp>

namespace shardtype::core {

SHARDTYPE_INLINE void RunningCall::refuse() const {
  Error const error(
      ended_ ? "E09" : "E08",
      ended_ ? "an operation after the end of the Environment, which ended MPI; a tensor that "
               "outlives it can be read, a.local(), and destroyed"
             : "an operation in a second thread; the operations of a rank run in the thread of its "
               "Environment, and other threads may read blocks, a.local()",
      ended_ ? FailedOn::every_rank : FailedOn::this_rank);
  innermost_ = outer_;  // this call does not begin
  throw error;
}

}  // namespace shardtype::core
