#pragma once
/// Definitions of copy_bytes.hpp.

#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::runtime {

SHARDTYPE_INLINE void copy_on_host(void* to, void const* from, std::size_t bytes) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  Kokkos::deep_copy(
      Kokkos::View<char*, Kokkos::HostSpace, Unmanaged>(static_cast<char*>(to), bytes),
      Kokkos::View<char const*, Kokkos::HostSpace, Unmanaged>(static_cast<char const*>(from),
                                                              bytes));
}

}  // namespace shardtype::runtime
