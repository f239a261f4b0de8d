// MPICH over UCX spins while it waits. A rival with more ranks than cores would pay scheduler ticks
// for each blocking call that an expert would not let stand, and the ratio would flatter us. This
// stands before UCX's progress function and gives the core away when there was no progress, while
// `yield_in_mpi` is set: for the rival's calls only, ours wait by themselves. To be included by one
// source file of a program; where MPI does not use UCX nobody calls it.
#pragma once

#include <dlfcn.h>
#include <sched.h>

inline bool yield_in_mpi = false;
inline long yielding_calls = 0;

extern "C" __attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker) {
  using Progress = unsigned (*)(void*);
  static Progress const real = reinterpret_cast<Progress>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  unsigned const done = real != nullptr ? real(worker) : 0;
  if (yield_in_mpi && done == 0) {
    ++yielding_calls;
    sched_yield();
  }
  return done;
}
