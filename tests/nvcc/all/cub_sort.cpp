// Sorting by CUB. The library has this code only if Kokkos is built for CUDA; this file replaces
// that part of Kokkos, so that the code compiles. scripts/check_nvcc compiles it; nothing runs.
#include <Kokkos_Core.hpp>

#ifndef KOKKOS_ENABLE_CUDA
#define KOKKOS_ENABLE_CUDA
namespace Kokkos {
struct Cuda : Serial {
  using execution_space = Serial;
  cudaStream_t cuda_stream() const { return nullptr; }
};
}  // namespace Kokkos
#endif
#include <cstdint>

#include <shardtype/kernels/cub_sort.hpp>

namespace kernels = shardtype::kernels;

#ifdef SHARDTYPE_HAVE_CUB
static_assert(kernels::detail::has_cub<Kokkos::Cuda> && !kernels::detail::has_cub<Kokkos::Serial>);
static_assert(kernels::detail::has_device_key<float> && !kernels::detail::has_device_key<char>);

/// Positions by their keys; 1 if they moved to the other buffer.
int sorted(shardtype::runtime::Pool& pool, std::uint32_t* keys, std::uint32_t* places,
           std::int64_t rows, std::int64_t n) {
  kernels::detail::SortBuffers<std::uint32_t> of_keys{keys, keys + rows * n};
  kernels::detail::SortBuffers<std::uint32_t> of_places{places, places + rows * n};
  kernels::CubSorter<Kokkos::Cuda>(Kokkos::Cuda(), pool).sort(rows, n, of_keys, of_places);
  return of_places.from == places ? 0 : 1;
}
#endif
