#pragma once
/// Definitions of launch.hpp.

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::kernels::detail {

SHARDTYPE_INLINE void launch_any(char const* name, std::int64_t calls, AnyKernel kernel) {
  using Exec = Kokkos::DefaultHostExecutionSpace;
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  // one for each number of threads, because a policy costs allocations; not destroyed, as the
  // instance
  static auto const most = static_cast<std::int64_t>(runtime::instance<Exec>().concurrency());
  // Kokkos 5 makes an allocation for each launch whose label is longer than 15 characters
  if (most == 1 && !Kokkos::Profiling::profileLibraryLoaded()) {
    kernel.make(kernel.kernel, 0, calls);
    return;
  }
  static Policy const* const* const policies = [] {
    auto** const all = new Policy*[static_cast<std::size_t>(most) + 1];
    for (std::int64_t n = 0; n <= most; ++n) all[n] = new Policy(runtime::instance<Exec>(), 0, n);
    return all;
  }();
  std::int64_t threads = most;
  if (threads > calls) threads = calls < 0 ? 0 : calls;
  Kokkos::parallel_for(launch_name(name), *policies[threads],
                       CallsOfThreads{kernel, calls, threads});
}

}  // namespace shardtype::kernels::detail
