#pragma once
/// Definitions of launch.hpp.

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>

namespace shardtype::kernels::detail {

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
