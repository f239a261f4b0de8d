#pragma once
/// Local Fourier transforms, by the library that this configuration has: on CUDA cuFFT, on the host
/// FFTW, else KissFFT.

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/core/error.hpp>
#include <shardtype/fft/kernels_cufft.hpp>
#include <shardtype/fft/kernels_fftw.hpp>
#include <shardtype/fft/kernels_kissfft.hpp>
#include <shardtype/fft/kernels_rows.hpp>
#include <shardtype/kernels/launch.hpp>
#include <shardtype/runtime/copy_bytes.hpp>

namespace shardtype::kernels {

#if !defined(SHARDTYPE_HAVE_FFTW) && !defined(SHARDTYPE_HAVE_KISSFFT)
/// Whether this configuration has a library of Fourier transforms.
inline constexpr bool has_fourier = false;

template <class Real>
void fourier_complex(Kokkos::complex<Real> const*, Layout const&, Kokkos::complex<Real>*,
                     Layout const&, FourierDims const&, bool) {}
template <class Real>
void fourier_real(Real const*, Layout const&, Kokkos::complex<Real>*, Layout const&,
                  FourierDims const&) {}
template <class Real>
void fourier_half(Kokkos::complex<Real> const*, Layout const&, Real*, Layout const&, int) {}
#endif

/// Whether cuFFT transforms what is in the memory of `Exec`.
template <class Exec>
constexpr bool by_cufft() {
#if defined(KOKKOS_ENABLE_CUDA) && defined(SHARDTYPE_HAVE_CUFFT)
  return std::is_same_v<Exec, Kokkos::Cuda>;
#else
  return false;
#endif
}

/// The functions above, for an execution space that has no library of its own.
template <class Exec, class Real>
void fourier_complex(Exec const&, Kokkos::complex<Real> const* in, Layout const& from,
                     Kokkos::complex<Real>* out, Layout const& to, FourierDims const& over,
                     bool forward) {
  kernels::fourier_complex(in, from, out, to, over, forward);
}
template <class Exec, class Real>
void fourier_real(Exec const&, Real const* in, Layout const& from, Kokkos::complex<Real>* out,
                  Layout const& to, FourierDims const& over) {
  kernels::fourier_real(in, from, out, to, over);
}
template <class Exec, class Real>
void fourier_half(Exec const&, Kokkos::complex<Real> const* in, Layout const& from, Real* out,
                  Layout const& to, int d) {
  kernels::fourier_half(in, from, out, to, d);
}

/// Error E74 without a library for the memory in `Space`.
template <class Space>
void check_fourier() {
  if constexpr (kernels::by_cufft<typename Space::execution_space>())
    return;
  else if constexpr (!runtime::host_reads<Space>)
    throw Error("E74",
                "Fourier transforms run on the host, which cannot access this memory: shardtype "
                "was configured without cuFFT (a part of the CUDA toolkit)",
                FailedOn::every_rank);
  else if constexpr (!has_fourier)
    throw Error("E74",
                "shardtype was configured without a library of Fourier transforms; install FFTW "
                "(libfftw3-dev, GPL) or KissFFT (libkissfft-dev, BSD) and configure again",
                FailedOn::every_rank);
}

namespace detail {
template <class Real>
struct Scale {
  Real* data;
  Real factor;
  KOKKOS_FUNCTION void operator()(std::int64_t k) const { data[k] *= factor; }
};
}  // namespace detail

/// Multiplies n real numbers, or the parts of complex ones.
template <class Real, class Exec>
void scale(Exec const& exec, Real* data, std::int64_t n, Real factor) {
  kernels::launch(exec, "shardtype::scale", n, detail::Scale<Real>{data, factor});
}

}  // namespace shardtype::kernels
