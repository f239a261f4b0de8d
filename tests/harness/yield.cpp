// MPICH over UCX spins while it waits. With more ranks than cores each blocking call of a test (the
// library's own waits yield) would lose time to the scheduler: 33 ms for a barrier of 8 ranks on
// two cores. This function replaces UCX's progress function and yields the core if there was no
// progress. It is for tests only; if MPI does not use UCX, nothing calls it.
#include <dlfcn.h>
#include <sched.h>

extern "C" __attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker) {
  using Progress = unsigned (*)(void*);
  static Progress const real = reinterpret_cast<Progress>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  unsigned const done = real != nullptr ? real(worker) : 0;
  if (done == 0) sched_yield();
  return done;
}
