// The products by cuBLAS. The library has this code only if Kokkos is built for CUDA; this file
// replaces that part of Kokkos, so that the code compiles. scripts/check_nvcc compiles it; nothing
// runs.
#include <Kokkos_Core.hpp>

#ifndef KOKKOS_ENABLE_CUDA
#define KOKKOS_ENABLE_CUDA
namespace Kokkos {
struct Cuda {
  cudaStream_t cuda_stream() const { return nullptr; }
};
}  // namespace Kokkos
#endif
#define SHARDTYPE_HAVE_CUBLAS 1
#include <shardtype/kernels/gemm.hpp>

namespace kernels = shardtype::kernels;

template <class T, class U>
void product(kernels::Matrix<T const> const& a, kernels::Matrix<U> const& c) {
  if (kernels::cublas_can(1, a, a, c)) kernels::cublas_gemm<T>(Kokkos::Cuda(), 1, a, a, c, false);
}
template void product(kernels::Matrix<float const> const&, kernels::Matrix<float> const&);
template void product(kernels::Matrix<Kokkos::complex<double> const> const&,
                      kernels::Matrix<Kokkos::complex<double>> const&);
template void product(kernels::Matrix<shardtype::bfloat16 const> const&,
                      kernels::Matrix<float> const&);

bool product(kernels::Matrix<shardtype::bfloat16 const> const& a, kernels::Matrix<float> const& c) {
  return kernels::gemm_bfloat16(Kokkos::Cuda(), 1, a, a, c, false);
}
