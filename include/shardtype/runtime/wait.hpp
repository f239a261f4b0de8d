#pragma once
/// Waiting for MPI, and its errors.

#include <string>

#include <mpi.h>
#include <sched.h>

#include <shardtype/core/error.hpp>
#include <shardtype/runtime/run_time.hpp>

namespace shardtype::runtime {

/// Throws the Error for an MPI call that failed.
inline void check_mpi(int status, char const* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw Error("E01", std::string(call) + " failed: " + std::string(text, text + length));
}

/// Waits for a request: by a blocking wait, or, if ranks share cores, by tests between which it
/// yields the core, because MPICH itself never yields.
inline void wait_for(MPI_Request& request) {
  if (!run_time.yield_while_waiting) {
    check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    return;
  }
  for (;;) {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    sched_yield();
  }
}

}  // namespace shardtype::runtime
