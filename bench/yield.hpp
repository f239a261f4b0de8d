// MPICH over UCX spins while it waits. With more ranks than cores, blocking calls of the
// hand-written program would lose time to the scheduler, and the ratio would favour the library.
// This function replaces UCX's progress function and yields the core if there was no progress and
// `yield_in_mpi` is set. The flag is set only around the hand-written program's calls, because the
// library yields by itself. Include this header in one source file of a program. If MPI does not
// use UCX, nothing calls the function.
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
