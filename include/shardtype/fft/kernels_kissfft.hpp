#pragma once
/// Local Fourier transforms by KissFFT (BSD licence), on the host, where there is no FFTW. Rows are
/// computed in double, because its factors have too few digits in float.

#include <Kokkos_Core.hpp>

#if defined(SHARDTYPE_HAVE_KISSFFT) && !defined(SHARDTYPE_HAVE_FFTW)

#include <complex>
#include <cstddef>
#include <cstdint>
#include <kissfft/kissfft.hh>

#include <shardtype/core/list.hpp>
#include <shardtype/fft/kernels_rows.hpp>

namespace shardtype::kernels {

namespace detail {

using KissComplex = std::complex<double>;

/// Transforms rows of `n` numbers, one after another.
class KissRows {
 public:
  KissRows(std::int64_t n, bool forward)
      : transform_(static_cast<std::size_t>(n), !forward),
        in_(static_cast<std::size_t>(n)),
        out_(static_cast<std::size_t>(n)) {}
  KissComplex* in() { return in_.data(); }
  KissComplex const* transformed() {
    transform_.transform(in_.data(), out_.data());
    return out_.data();
  }

 private:
  kissfft<double> transform_;
  shardtype::detail::List<KissComplex> in_, out_;
};

}  // namespace detail

/// Whether this configuration has a library of Fourier transforms.
inline constexpr bool has_fourier = true;

/// Transforms dims `over` of a block at `in`, to a block of the same extents at `out`, which may be
/// the same one. Not for empty blocks.
template <class Real>
void fourier_complex(Kokkos::complex<Real> const* in, Layout const& from,
                     Kokkos::complex<Real>* out, Layout const& to, FourierDims const& over,
                     bool forward) {
  Kokkos::complex<Real> const* source = in;
  Layout const* layout = &from;
  for (int k = 0; k < over.size; ++k) {
    int const d = over.at[k];
    std::int64_t const n = from.extent[d];
    detail::KissRows rows(n, forward);
    for_fourier_rows(*layout, to, d, [&](std::int64_t a, std::int64_t b) {
      for (std::int64_t i = 0; i < n; ++i) {
        auto const& x = source[a + i * layout->stride[d]];
        rows.in()[i] = {static_cast<double>(x.real()), static_cast<double>(x.imag())};
      }
      detail::KissComplex const* const y = rows.transformed();
      for (std::int64_t i = 0; i < n; ++i)
        out[b + i * to.stride[d]] =
            Kokkos::complex<Real>(static_cast<Real>(y[i].real()), static_cast<Real>(y[i].imag()));
    });
    source = out;
    layout = &to;
  }
}

/// Transforms dims `over` of a real block; the last one has n / 2 + 1 rows in the complex block.
template <class Real>
void fourier_real(Real const* in, Layout const& from, Kokkos::complex<Real>* out, Layout const& to,
                  FourierDims const& over) {
  int const d = over.last();
  std::int64_t const n = from.extent[d];
  detail::KissRows rows(n, true);
  for_fourier_rows(from, to, d, [&](std::int64_t a, std::int64_t b) {
    for (std::int64_t i = 0; i < n; ++i)
      rows.in()[i] = static_cast<double>(in[a + i * from.stride[d]]);
    detail::KissComplex const* const y = rows.transformed();
    for (std::int64_t i = 0; i < to.extent[d]; ++i)
      out[b + i * to.stride[d]] =
          Kokkos::complex<Real>(static_cast<Real>(y[i].real()), static_cast<Real>(y[i].imag()));
  });
  FourierDims others = over;
  --others.size;
  if (others.size > 0) fourier_complex(out, to, out, to, others, true);
}

/// The real rows along dim `d` from their n / 2 + 1 complex ones.
template <class Real>
void fourier_half(Kokkos::complex<Real> const* in, Layout const& from, Real* out, Layout const& to,
                  int d) {
  std::int64_t const n = to.extent[d];
  detail::KissRows rows(n, false);
  for_fourier_rows(from, to, d, [&](std::int64_t a, std::int64_t b) {
    for (std::int64_t i = 0; i < n; ++i) {
      bool const mirrored = i >= from.extent[d];
      auto const& x = in[a + (mirrored ? n - i : i) * from.stride[d]];
      // the imaginary parts of the first row, and of the middle one, do not count
      double const imaginary = i == 0 || 2 * i == n ? 0 : static_cast<double>(x.imag());
      rows.in()[i] = {static_cast<double>(x.real()), mirrored ? -imaginary : imaginary};
    }
    detail::KissComplex const* const y = rows.transformed();
    for (std::int64_t i = 0; i < n; ++i) out[b + i * to.stride[d]] = static_cast<Real>(y[i].real());
  });
}

}  // namespace shardtype::kernels

#endif
