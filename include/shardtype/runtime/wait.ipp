#pragma once
/// Definitions of wait.hpp.

#include <shardtype/runtime/wait.hpp>

namespace shardtype::runtime {

SHARDTYPE_INLINE void check_mpi(int status, char const* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw Error("E01", std::string(call) + " failed: " + std::string(text, text + length));
}

SHARDTYPE_INLINE void wait_for(MPI_Request& request) {
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
