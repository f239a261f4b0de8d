#pragma once
/// Fourier transforms along dims whose rows are far apart in memory, by tiles that fit a cache.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/core/list.hpp>
#include <shardtype/fft/kernels_fourier.hpp>
#include <shardtype/fft/kernels_rows.hpp>

namespace shardtype::kernels {

namespace detail {

/// Bytes from the first to the last row of dim `d`.
inline std::int64_t fourier_span(Layout const& l, int d, std::int64_t element_bytes) {
  return (l.extent[d] - 1) * l.stride[d] * element_bytes;
}

/// The rows along one dim, in tiles of some consecutive elements of the dim beside it.
template <class Real>
class FourierTiles {
  using Complex = Kokkos::complex<Real>;

 public:
  FourierTiles(Layout const& from, Layout const& to, int dim, int beside, bool forward)
      : from_(from), to_(to), dim_(dim), beside_(beside), forward_(forward) {
    std::int64_t const fit = most_bytes / row_bytes(from, dim);
    width_ = std::min<std::int64_t>({from.extent[beside], std::max<std::int64_t>(fit, 1), 64});
  }
  /// Whether some consecutive elements of a tile fit the cache; else tiles save nothing.
  static bool fit(Layout const& from, int dim) {
    return row_bytes(from, dim) * least_width <= most_bytes;
  }
  void run(Complex const* in, Complex* out) {
    // every other dim
    Layout loops_in;
    Layout loops_out;
    for (int d = 0; d < from_.rank; ++d) {
      if (d == dim_ || d == beside_ || from_.extent[d] == 1) continue;
      loops_in.extent[loops_in.rank] = loops_out.extent[loops_out.rank] = from_.extent[d];
      loops_in.stride[loops_in.rank++] = from_.stride[d];
      loops_out.stride[loops_out.rank++] = to_.stride[d];
    }
    if (loops_in.rank == 0) {
      loops_in.rank = loops_out.rank = 1;
      loops_in.extent[0] = loops_out.extent[0] = 1;
    }
    scratch.resize(static_cast<std::size_t>(from_.extent[dim_] * width_) + 64 / sizeof(Complex));
    kernels::for_fourier_rows(loops_in, loops_out, -1, [&](std::int64_t a, std::int64_t b) {
      for (std::int64_t k = 0; k < from_.extent[beside_]; k += width_)
        one(in + a + k, out + b + k, std::min(width_, from_.extent[beside_] - k));
    });
  }

 private:
  static constexpr std::int64_t most_bytes = 256 * 1024;
  static constexpr std::int64_t least_width = 4;

  static std::int64_t row_bytes(Layout const& l, int dim) {
    return l.extent[dim] * static_cast<std::int64_t>(sizeof(Complex));
  }
  void one(Complex const* in, Complex* out, std::int64_t w) {
    std::int64_t const n = from_.extent[dim_];
    auto const misplaced = reinterpret_cast<std::uintptr_t>(scratch.data()) % 64;
    Complex* const tile =
        scratch.data() + (misplaced == 0 ? 0 : (64 - misplaced) / sizeof(Complex));
    for (std::int64_t i = 0; i < n; ++i) std::copy_n(in + i * from_.stride[dim_], w, tile + i * w);
    Layout l;
    l.rank = 2;
    l.extent[0] = n;
    l.extent[1] = w;
    l = l.packed();
    FourierDims first;
    first.push(0);
    kernels::fourier_complex(tile, l, tile, l, first, forward_);
    for (std::int64_t i = 0; i < n; ++i) std::copy_n(tile + i * w, w, out + i * to_.stride[dim_]);
  }

  Layout const& from_;
  Layout const& to_;
  int dim_, beside_;
  bool forward_;
  std::int64_t width_ = 1;
  inline static shardtype::detail::List<Complex> scratch;
};

}  // namespace detail

/// fourier_complex that transforms dims whose rows span more than a cache one after the other, in
/// tiles: the copy to a tile and back reads whole cache lines, which the library may not.
template <class Real>
void fourier_complex_by_tiles(Kokkos::complex<Real> const* in, Layout const& from,
                              Kokkos::complex<Real>* out, Layout const& to, FourierDims const& over,
                              bool forward) {
  constexpr std::int64_t cache = 1024 * 1024;
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(Kokkos::complex<Real>));
  int beside = -1;
  for (int d = 0; d < from.rank; ++d)
    if (from.extent[d] > 1 && from.stride[d] == 1 && to.stride[d] == 1) beside = d;
  FourierDims near;
  FourierDims far;
  for (int k = 0; k < over.size; ++k) {
    int const d = over.at[k];
    bool const apart =
        std::max(detail::fourier_span(from, d, bytes), detail::fourier_span(to, d, bytes)) > cache;
    bool const tiles =
        apart && beside >= 0 && beside != d && detail::FourierTiles<Real>::fit(from, d);
    (tiles ? far : near).push(d);
  }
  Kokkos::complex<Real> const* source = in;
  Layout const* layout = &from;
  if (near.size > 0) {
    kernels::fourier_complex(in, from, out, to, near, forward);
    source = out;
    layout = &to;
  }
  for (int k = 0; k < far.size; ++k) {
    detail::FourierTiles<Real>(*layout, to, far.at[k], beside, forward).run(source, out);
    source = out;
    layout = &to;
  }
}

/// The same where cuFFT does the transforms: without tiles, which are for the caches of the host.
template <class Exec, class Real>
void fourier_complex_by_tiles(Exec const& exec, Kokkos::complex<Real> const* in, Layout const& from,
                              Kokkos::complex<Real>* out, Layout const& to, FourierDims const& over,
                              bool forward) {
  if constexpr (kernels::by_cufft<Exec>())
    kernels::fourier_complex(exec, in, from, out, to, over, forward);
  else
    kernels::fourier_complex_by_tiles(in, from, out, to, over, forward);
}

}  // namespace shardtype::kernels
