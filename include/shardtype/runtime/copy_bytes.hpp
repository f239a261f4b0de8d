#pragma once
/// Copies between memory spaces. One instance of Kokkos::deep_copy per pair of spaces, because each
/// costs a compiler a tenth of a second.

#include <cstddef>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/core/compiled.hpp>

namespace shardtype::runtime {

/// Whether the host, and so MPI, can access memory of `Space`, a memory space or an execution
/// space.
template <class Space>
inline constexpr bool host_reads =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename Space::memory_space>::accessible;
/// Whether `Space` can access the host's memory as well.
template <class Space>
inline constexpr bool shared_with_host =
    host_reads<Space> &&
    Kokkos::SpaceAccessibility<typename Space::execution_space, Kokkos::HostSpace>::accessible;

/// copy_bytes within the host's memory.
void copy_on_host(void* to, void const* from, std::size_t bytes);

/// Copies `bytes` bytes in memory `From` to memory `To`; complete on return.
template <class To, class From>
void copy_bytes(void* to, void const* from, std::size_t bytes) {
  if constexpr (std::is_same_v<To, Kokkos::HostSpace> && std::is_same_v<From, Kokkos::HostSpace>) {
    copy_on_host(to, from, bytes);
  } else {
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    Kokkos::deep_copy(
        Kokkos::View<char*, To, Unmanaged>(static_cast<char*>(to), bytes),
        Kokkos::View<char const*, From, Unmanaged>(static_cast<char const*>(from), bytes));
  }
}

}  // namespace shardtype::runtime

#ifndef SHARDTYPE_COMPILED
#include <shardtype/runtime/copy_bytes.ipp>
#endif
