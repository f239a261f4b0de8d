// Fourier transforms by cuFFT. The library has this code only if Kokkos is built for CUDA; this
// file replaces that part of Kokkos by Serial with a stream, so that the code compiles.
// scripts/check_nvcc compiles it without linking. Linked to cuFFT and run without a GPU, the
// program sees the error of a plan.
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
#define SHARDTYPE_HAVE_CUFFT 1
#include <cstdio>

#include <shardtype/fft/kernels_roots.hpp>
#include <shardtype/fft/kernels_tiles.hpp>

namespace kernels = shardtype::kernels;

static_assert(kernels::by_cufft<Kokkos::Cuda>() && !kernels::by_cufft<Kokkos::Serial>());

template <class Real>
void transforms(Real* real, Kokkos::complex<Real>* half, kernels::Layout const& from,
                kernels::Layout const& to, kernels::FourierDims const& over) {
  Kokkos::Cuda const exec;
  kernels::fourier_complex_by_tiles(exec, half, from, half, to, over, true);
  kernels::fourier_real(exec, real, from, half, to, over);
  kernels::fourier_half(exec, half, from, real, to, over.last());
}
template void transforms(float*, Kokkos::complex<float>*, kernels::Layout const&,
                         kernels::Layout const&, kernels::FourierDims const&);
template void transforms(double*, Kokkos::complex<double>*, kernels::Layout const&,
                         kernels::Layout const&, kernels::FourierDims const&);

int main() {
  // a box of 4 x 6 x 5 in one of 8 x 6 x 10: its middle dim is a loop of the host
  kernels::Layout box;
  box.rank = 3;
  for (int d = 0; d < 3; ++d) box.extent[d] = d == 0 ? 4 : 7 - d;
  box.stride[0] = 60;
  box.stride[1] = 10;
  box.stride[2] = 1;
  kernels::detail::CufftRows const rows(box, box, 0);
  bool good = rows.shape.n == 4 && rows.shape.stride == 60 && rows.shape.batch == 6 &&
              rows.shape.distance == 10 && rows.loops.rank == 1 && rows.loops.extent[0] == 5;
  kernels::detail::CufftRows const packed(box.packed(), box.packed(), 0);
  good = good && packed.shape.batch == 30 && packed.shape.distance == 1 && packed.loops.rank == 0;
  auto const says = [&](auto&& run) {
    try {
      run();
      std::puts("a plan was made: there is a GPU");
    } catch (shardtype::Error const& e) {
      std::puts(e.what());
      good = good && e.code() == "E74";
    }
  };
  says([&] { kernels::detail::cufft_plan(packed.shape, nullptr); });
  kernels::detail::CufftPlans plans;
  kernels::detail::CufftShape shape = packed.shape;
  shape.type = CUFFT_C2C;
  says([&] { plans.get(shape); });
  shape.n = -1;
  says([&] { plans.get(shape); });
  return good ? 0 : 1;
}
