// A tensor's local block on the host, for tests that read and write it; the tensor may be in
// another memory space.
#pragma once

#include <Kokkos_Core.hpp>

namespace harness {

// The calling rank's block, to read on the host: a copy, or the tensor's own memory if it is on the
// host.
template <class A>
auto host_block(A const& a) {
  if constexpr (requires { a.unreduced_local(); }) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a.unreduced_local());
  } else {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a.local());  // of a Halo
  }
}
template <class A>
void host_block(A const&&) = delete;

// Runs `write` on the calling rank's block on the host; elements that it does not write keep their
// values.
template <class A, class Write>
void write_block(A& a, Write write) {
  using T = typename A::element;
  auto const block = a.mutable_local();
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), block);
  write(host);
  // flat, so that the compiler instantiates it once per element type and not once per tensor type
  Kokkos::View<T*, typename A::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const to(
      block.data(), block.size());
  Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const from(
      host.data(), host.size());
  Kokkos::deep_copy(to, from);
}

}  // namespace harness
