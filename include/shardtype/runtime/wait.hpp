#pragma once
/// Waiting for MPI, and its errors.

#include <string>

#include <mpi.h>
#include <sched.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/runtime/run_time.hpp>

namespace shardtype::runtime {

/// Throws the Error for an MPI call that failed.
void check_mpi(int status, char const* call);

/// Waits for a request: by a blocking wait, or, if ranks share cores, by tests between which it
/// yields the core, because MPICH itself never yields.
void wait_for(MPI_Request& request);

}  // namespace shardtype::runtime

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/wait.ipp>
#endif
