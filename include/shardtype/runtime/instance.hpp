#pragma once
/// Execution spaces without allocations: Kokkos 4 and 5 make a few at each instance, policy and
/// fence.

#include <type_traits>

#include <Kokkos_Core.hpp>

namespace shardtype::runtime {

/// Whether what is launched on `Exec` is done when the launch returns: on the host, but HPX.
#ifdef KOKKOS_ENABLE_HPX
template <class Exec>
inline constexpr bool done_on_return = false;
#else
template <class Exec>
inline constexpr bool done_on_return = std::is_same_v<Exec, Kokkos::DefaultHostExecutionSpace>;
#endif

/// The default instance of `Exec`, made once. It is never destroyed: Kokkos 5 ends a program that
/// does so after Kokkos::finalize.
template <class Exec>
Exec const& instance() {
  static Exec const& kept = *new Exec;
  return kept;
}

/// Waits for what was launched on `exec`.
template <class Exec>
void fence([[maybe_unused]] Exec const& exec) {
  if constexpr (!done_on_return<Exec>) exec.fence();
}

}  // namespace shardtype::runtime
