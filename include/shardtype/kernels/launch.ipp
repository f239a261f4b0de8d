#pragma once
/// Definitions of launch.hpp.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/launch.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::kernels::detail {

SHARDTYPE_INLINE void launch_any(char const* name, std::int64_t calls, AnyKernel kernel) {
  using Exec = Kokkos::DefaultHostExecutionSpace;
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  // of each number of threads, because a policy costs allocations; not destroyed, as the instance
  static std::vector<Policy> const& policies = *[] {
    Exec const& exec = runtime::instance<Exec>();
    auto* const all = new std::vector<Policy>;
    for (std::int64_t n = 0; n <= exec.concurrency(); ++n) all->emplace_back(exec, 0, n);
    return all;
  }();
  auto threads = static_cast<std::int64_t>(policies.size()) - 1;
  if (threads > calls) threads = calls < 0 ? 0 : calls;
  Kokkos::parallel_for(launch_name(name), policies[static_cast<std::size_t>(threads)],
                       CallsOfThreads{kernel, calls, threads});
}

}  // namespace shardtype::kernels::detail
