#pragma once
/// Definitions of launch.hpp.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>

namespace shardtype::kernels::detail {

/// One call makes those of one thread.
struct CallsOfThreads {
  AnyKernel kernel;
  std::int64_t calls, threads;

  void operator()(std::int64_t thread) const {
    std::int64_t const each = calls / threads;
    std::int64_t const more = calls % threads;  // the first ones make one more
    std::int64_t const begin = thread * each + (thread < more ? thread : more);
    kernel.make(kernel.kernel, begin, begin + each + (thread < more ? 1 : 0));
  }
};

SHARDTYPE_INLINE void launch_any(Kokkos::DefaultHostExecutionSpace const& exec, char const* name,
                                 std::int64_t calls, AnyKernel kernel) {
  std::int64_t threads = exec.concurrency();
  if (threads > calls) threads = calls;
  Kokkos::parallel_for(
      launch_name(name),
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          exec, 0, threads),
      CallsOfThreads{kernel, calls, threads});
}

}  // namespace shardtype::kernels::detail
