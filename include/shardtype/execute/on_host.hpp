#pragma once
/// Blocks where the host and MPI can access them.

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/execute/staged.hpp>
#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::execute {

/// Memory that the host and MPI can access, for blocks in memory `Space`: that of the blocks where
/// it is such.
template <class Space>
struct OnHost {
  MeshState& mesh;

  template <class U>
  Buffer take(std::int64_t n) const {
    std::size_t const bytes = static_cast<std::size_t>(n) * sizeof(U);
    if constexpr (runtime::host_reads<Space>) {
      return mesh.pool().template take<Space>(bytes);
    } else {
      return execute::take_staging(mesh, bytes);
    }
  }
  /// A copy of `n` elements of a block; nothing where the host reads them.
  template <class U>
  Buffer near([[maybe_unused]] U const* data, [[maybe_unused]] std::int64_t n) const {
    if constexpr (runtime::host_reads<Space>) {
      return {};
    } else {
      Buffer out = take<U>(n);
      runtime::copy_bytes<Kokkos::HostSpace, Space>(out.data(), data,
                                                    static_cast<std::size_t>(n) * sizeof(U));
      return out;
    }
  }
  /// The same `n` elements as a block.
  template <class U>
  Buffer back(Buffer here, [[maybe_unused]] std::int64_t n) const {
    if constexpr (runtime::host_reads<Space>) {
      return here;
    } else {
      std::size_t const bytes = static_cast<std::size_t>(n) * sizeof(U);
      Buffer out = mesh.pool().template take<Space>(bytes);
      runtime::copy_bytes<Space, Kokkos::HostSpace>(out.data(), here.data(), bytes);
      return out;
    }
  }
};

}  // namespace shardtype::execute
