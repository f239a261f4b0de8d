// MPICH over UCX spins while it waits. With more ranks than cores each blocking call of a test (the
// library's own waits yield) would cost scheduler ticks, 33 ms for a barrier of 8 ranks on two cores.
// This stands before UCX's progress function and gives the core away when there was no progress. In
// tests only; where MPI does not use UCX nobody calls it.
#include <dlfcn.h>
#include <sched.h>

extern "C" __attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker) {
  using Progress = unsigned (*)(void*);
  static Progress const real = reinterpret_cast<Progress>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  unsigned const done = real != nullptr ? real(worker) : 0;
  if (done == 0) sched_yield();
  return done;
}
