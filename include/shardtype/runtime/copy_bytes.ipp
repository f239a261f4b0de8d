#pragma once
/// Definitions of copy_bytes.hpp.

#include <cstring>

#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::runtime {

SHARDTYPE_INLINE void copy_on_host(void* to, void const* from, std::size_t bytes) {
  // what deep_copy does, which costs a compiler more; with threads it copies in parallel
#if defined(KOKKOS_ENABLE_OPENMP) || defined(KOKKOS_ENABLE_THREADS) || defined(KOKKOS_ENABLE_HPX)
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  Kokkos::deep_copy(
      runtime::instance<Kokkos::DefaultHostExecutionSpace>(),
      Kokkos::View<char*, Kokkos::HostSpace, Unmanaged>(static_cast<char*>(to), bytes),
      Kokkos::View<char const*, Kokkos::HostSpace, Unmanaged>(static_cast<char const*>(from),
                                                              bytes));
  runtime::fence(runtime::instance<Kokkos::DefaultHostExecutionSpace>());
#else
  if constexpr (!done_on_return<Kokkos::DefaultExecutionSpace>) Kokkos::fence();
  if (bytes > 0) std::memcpy(to, from, bytes);
#endif
}

}  // namespace shardtype::runtime
