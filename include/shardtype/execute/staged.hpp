#pragma once
/// Copies through the host for memory spaces that MPI cannot access.

#include <cstddef>
#include <cstdint>
#include <utility>

#include <Kokkos_Core.hpp>

#include <shardtype/runtime/copy_bytes.hpp>
#include <shardtype/runtime/instance.hpp>
#include <shardtype/runtime/mesh.hpp>
#include <shardtype/runtime/run_time.hpp>

namespace shardtype::execute {

/// A block as one-dimensional memory of `Space`.
template <class T, class Space>
using Flat = Kokkos::View<T*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Memory of the host for messages of blocks that MPI cannot access; CUDA copies faster from and to
/// memory that stays in place.
#ifdef KOKKOS_ENABLE_CUDA
using StagingSpace = Kokkos::CudaHostPinnedSpace;
#else
using StagingSpace = Kokkos::HostSpace;
#endif
inline Buffer take_staging(MeshState& mesh, std::size_t bytes) {
  return mesh.pool().take<StagingSpace>(bytes, runtime::Pool::Use::staging);
}

/// Whether MPI reads and writes memory of `Space`, once its kernels have ended.
template <class Space>
bool moved_by_mpi() {
  if constexpr (runtime::host_reads<Space>) {
    return true;
  } else {
    using Exec = typename Space::execution_space;
    if (runtime::run_time.device_messages) runtime::fence(runtime::instance<Exec>());
    return runtime::run_time.device_messages;
  }
}

/// The host side of one exchange of `T` in memory `Space`: that memory itself if MPI can access it.
template <class T, class Space>
class Staged {
 public:
  explicit Staged(MeshState& mesh) : mesh_(mesh) {}

  /// Says that the host adds or copies what it exchanges, so it must be in the host's memory.
  void read_by_host() { by_host_ = true; }
  /// Says that the exchange gathers `n` elements over `comm`; in two stages the host copies them.
  void gather([[maybe_unused]] Comm const& comm, [[maybe_unused]] std::int64_t n) {
    if constexpr (!runtime::host_reads<Space>)
      by_host_ =
          by_host_ || comm.in_two_stages(planning::Collective::all_gather,
                                         n / comm.size() * static_cast<std::int64_t>(sizeof(T)));
  }
  /// Says the same of an all_to_all whose segments have about `segment` elements.
  void exchange([[maybe_unused]] Comm const& comm, [[maybe_unused]] std::int64_t segment) {
    if constexpr (!runtime::host_reads<Space>)
      by_host_ = by_host_ || comm.in_two_stages(planning::Collective::all_to_all,
                                                segment * static_cast<std::int64_t>(sizeof(T)));
  }
  /// The memory from which MPI sends the `n` elements at `data`.
  T const* outgoing(T const* data, std::int64_t n) {
    if constexpr (runtime::host_reads<Space>) {
      return data;
    } else {
      if (direct()) return data;
      sent_ = execute::take_staging(mesh_, bytes(n));
      runtime::copy_bytes<Kokkos::HostSpace, Space>(sent_.data(), data, bytes(n));
      return static_cast<T const*>(sent_.data());
    }
  }
  /// The memory into which MPI receives `n` elements for `data`; `arrived` copies them there.
  T* incoming(T* data, std::int64_t n) {
    if constexpr (runtime::host_reads<Space>) {
      return data;
    } else {
      if (direct()) return data;
      received_ = execute::take_staging(mesh_, bytes(n));
      return static_cast<T*>(received_.data());
    }
  }
  /// The same memory, with the elements that are at `data` now.
  T* in_place(T* data, std::int64_t n) {
    T* const at = incoming(data, n);
    if constexpr (!runtime::host_reads<Space>)
      if (at != data) runtime::copy_bytes<Kokkos::HostSpace, Space>(at, data, bytes(n));
    return at;
  }
  /// Copies what came to `data`, if anything was to come.
  void arrived(T* data, std::int64_t n) {
    arrived(received_, data, n);
    received_ = {};
    sent_ = {};
  }
  static void arrived([[maybe_unused]] Buffer const& host, [[maybe_unused]] T* data,
                      [[maybe_unused]] std::int64_t n) {
    if constexpr (!runtime::host_reads<Space>)
      if (host.data() != nullptr)
        runtime::copy_bytes<Space, Kokkos::HostSpace>(data, host.data(), bytes(n));
  }
  /// Stores the completion of an exchange of `operand` that receives `n` elements for `result`,
  /// with all memory that it needs until then.
  void put_off(Exchange& e, Buffer const& operand, Buffer const& result, std::int64_t n) {
    e.kept.push_back(operand);
    e.kept.push_back(std::move(sent_));
    e.host = std::move(received_);
    e.result = result;
    e.arriving = n;
  }

 private:
  bool direct() const { return !by_host_ && execute::moved_by_mpi<Space>(); }
  static std::size_t bytes(std::int64_t n) { return static_cast<std::size_t>(n) * sizeof(T); }

  MeshState& mesh_;
  Buffer sent_, received_;
  bool by_host_ = false;
};

}  // namespace shardtype::execute
