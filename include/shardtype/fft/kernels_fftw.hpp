#pragma once
/// Local Fourier transforms by FFTW, on the host. One plan for each shape is kept.

#include <Kokkos_Core.hpp>

#ifdef SHARDTYPE_HAVE_FFTW

#include <cstddef>
#include <cstdint>
#include <string>

#include <fftw3.h>

#include <shardtype/core/list.hpp>
#include <shardtype/fft/kernels_rows.hpp>
#include <shardtype/fft/kernels_wisdom.hpp>
#include <shardtype/runtime/run_time.hpp>

namespace shardtype::kernels {

namespace detail {

/// The functions of FFTW for one precision.
template <class Real>
struct FftwFunctions;
template <>
struct FftwFunctions<double> {
  using Plan = fftw_plan;
  using Complex = fftw_complex;
  using Dim = fftw_iodim64;
  static constexpr auto complex = &fftw_plan_guru64_dft;
  static constexpr auto real = &fftw_plan_guru64_dft_r2c;
  static constexpr auto half = &fftw_plan_guru64_dft_c2r;
  static constexpr auto run_complex = &fftw_execute_dft;
  static constexpr auto run_real = &fftw_execute_dft_r2c;
  static constexpr auto run_half = &fftw_execute_dft_c2r;
  static constexpr auto destroy = &fftw_destroy_plan;
  static constexpr auto allocate = &fftw_malloc;
  static constexpr auto release = &fftw_free;
  static constexpr auto alignment = &fftw_alignment_of;
  static constexpr char const* precision = ".double";
  static WisdomFunctions wisdom() {
    return {&fftw_import_wisdom_from_file, &fftw_export_wisdom_to_file, fftw_version};
  }
};
template <>
struct FftwFunctions<float> {
  using Plan = fftwf_plan;
  using Complex = fftwf_complex;
  using Dim = fftwf_iodim64;
  static constexpr auto complex = &fftwf_plan_guru64_dft;
  static constexpr auto real = &fftwf_plan_guru64_dft_r2c;
  static constexpr auto half = &fftwf_plan_guru64_dft_c2r;
  static constexpr auto run_complex = &fftwf_execute_dft;
  static constexpr auto run_real = &fftwf_execute_dft_r2c;
  static constexpr auto run_half = &fftwf_execute_dft_c2r;
  static constexpr auto destroy = &fftwf_destroy_plan;
  static constexpr auto allocate = &fftwf_malloc;
  static constexpr auto release = &fftwf_free;
  static constexpr auto alignment = &fftwf_alignment_of;
  static constexpr char const* precision = ".float";
  static WisdomFunctions wisdom() {
    return {&fftwf_import_wisdom_from_file, &fftwf_export_wisdom_to_file, fftwf_version};
  }
};

enum class FftwKind : std::int8_t { forward, backward, real, half };

/// The arguments of FFTW's planner: equal shapes share a plan.
struct FftwShape {
  FftwKind kind{};
  bool in_place = false;
  bool aligned = false;  ///< as the memory of fftw_malloc
  Layout dims{};         ///< extents of the logical rows, strides of the input
  Layout dims_out{};     ///< strides of the output
  Layout loops{};
  Layout loops_out{};

  static bool equal(Layout const& a, Layout const& b) {
    if (a.rank != b.rank) return false;
    for (int d = 0; d < a.rank; ++d)
      if (a.extent[d] != b.extent[d] || a.stride[d] != b.stride[d]) return false;
    return true;
  }
  friend bool operator==(FftwShape const& a, FftwShape const& b) {
    return a.kind == b.kind && a.in_place == b.in_place && a.aligned == b.aligned &&
           equal(a.dims, b.dims) && equal(a.dims_out, b.dims_out) && equal(a.loops, b.loops) &&
           equal(a.loops_out, b.loops_out);
  }
};

/// The plans of one precision.
template <class Real>
class FftwPlans {
  using F = FftwFunctions<Real>;

 public:
  typename F::Plan get(FftwShape const& shape) {
    for (Known const& k : known_)
      if (k.shape == shape) return k.plan;
    // shapes that change at every call must not fill the memory
    if (known_.size() == 64) {
      F::destroy(known_[0].plan);
      known_.erase(0);
    }
    measured_ = measured_ || run_time.settings.fft.planning != FftwPlanning::estimate;
    return known_.push_back({shape, planned(shape)}).plan;
  }
  /// Reads the wisdom of earlier programs, if SHARDTYPE_FFTW_WISDOM names a file.
  FftwPlans() : wisdom_(wisdom_file(), F::wisdom()) {}
  ~FftwPlans() {
    if (measured_) wisdom_.keep();
    for (Known const& k : known_) F::destroy(k.plan);
  }
  FftwPlans(FftwPlans const&) = delete;
  FftwPlans& operator=(FftwPlans const&) = delete;

 private:
  struct Known {
    FftwShape shape{};
    typename F::Plan plan{};
  };

  /// A plan made on memory of its own, which measuring overwrites.
  static typename F::Plan planned(FftwShape const& s) {
    bool const estimates = run_time.settings.fft.planning == FftwPlanning::estimate;
    std::size_t const in_bytes =
        bytes(s.dims, s.loops, s.kind == FftwKind::half, s.kind == FftwKind::real);
    std::size_t const out_bytes =
        bytes(s.dims_out, s.loops_out, s.kind == FftwKind::real, s.kind == FftwKind::half);
    void* const in = F::allocate(estimates ? 64 : in_bytes);
    void* const out = s.in_place ? in : F::allocate(estimates ? 64 : out_bytes);
    typename F::Dim dims[core::max_dims];
    typename F::Dim loops[core::max_dims];
    fill(dims, s.dims, s.dims_out);
    fill(loops, s.loops, s.loops_out);
    unsigned flags = FFTW_ESTIMATE;
    if (run_time.settings.fft.planning == FftwPlanning::measure) flags = FFTW_MEASURE;
    if (run_time.settings.fft.planning == FftwPlanning::patient) flags = FFTW_PATIENT;
    if (!s.in_place) flags |= FFTW_PRESERVE_INPUT;
    if (!s.aligned) flags |= FFTW_UNALIGNED;
    auto* const complex_in = static_cast<typename F::Complex*>(in);
    auto* const complex_out = static_cast<typename F::Complex*>(out);
    typename F::Plan plan{};
    if (s.kind == FftwKind::real)
      plan = F::real(s.dims.rank, dims, s.loops.rank, loops, static_cast<Real*>(in), complex_out,
                     flags);
    else if (s.kind == FftwKind::half)
      plan = F::half(s.dims.rank, dims, s.loops.rank, loops, complex_in, static_cast<Real*>(out),
                     flags);
    else
      plan = F::complex(s.dims.rank, dims, s.loops.rank, loops, complex_in, complex_out,
                        s.kind == FftwKind::forward ? FFTW_FORWARD : FFTW_BACKWARD, flags);
    if (!s.in_place) F::release(out);
    F::release(in);
    return plan;
  }
  /// Bytes from the first to the last element of an array.
  static std::size_t bytes(Layout const& dims, Layout const& loops, bool halved, bool real) {
    std::int64_t last = 0;
    for (int d = 0; d < dims.rank; ++d) {
      std::int64_t const n = halved && d + 1 == dims.rank ? dims.extent[d] / 2 + 1 : dims.extent[d];
      last += (n - 1) * dims.stride[d];
    }
    for (int d = 0; d < loops.rank; ++d) last += (loops.extent[d] - 1) * loops.stride[d];
    return static_cast<std::size_t>(last + 1) * sizeof(Real) * (real ? 1 : 2);
  }
  static void fill(typename F::Dim* to, Layout const& in, Layout const& out) {
    for (int d = 0; d < in.rank; ++d)
      to[d] = {static_cast<std::ptrdiff_t>(in.extent[d]), static_cast<std::ptrdiff_t>(in.stride[d]),
               static_cast<std::ptrdiff_t>(out.stride[d])};
  }

  static std::string wisdom_file() {
    std::string const& file = run_time.settings.fft.wisdom;
    return file.empty() ? file : file + F::precision;
  }

  shardtype::detail::List<Known> known_;
  FftwWisdom wisdom_;
  bool measured_ = false;
};

template <class Real>
FftwPlans<Real>& fftw_plans() {
  static FftwPlans<Real> plans;
  return plans;
}

/// The shape of a transform of dims `over` from block `from` to block `to`. `rows`: the real rows
/// of the last of them.
inline FftwShape fftw_shape(FftwKind kind, Layout const& from, Layout const& to,
                            FourierDims const& over, std::int64_t rows) {
  FftwShape s;
  s.kind = kind;
  auto const add = [&](Layout& in, Layout& out, int d, std::int64_t n) {
    in.extent[in.rank] = out.extent[out.rank] = n;
    in.stride[in.rank++] = from.stride[d];
    out.stride[out.rank++] = to.stride[d];
  };
  for (int k = 0; k < over.size; ++k)
    add(s.dims, s.dims_out, over.at[k],
        k + 1 == over.size && rows > 0 ? rows : from.extent[over.at[k]]);
  for (int d = 0; d < from.rank; ++d)
    if (!over.contains(d) && from.extent[d] != 1) add(s.loops, s.loops_out, d, from.extent[d]);
  return s;
}

}  // namespace detail

/// Whether this configuration has a library of Fourier transforms.
inline constexpr bool has_fourier = true;

/// Transforms dims `over` of a block at `in`, to a block of the same extents at `out`, which may be
/// the same one. Not for empty blocks.
template <class Real>
void fourier_complex(Kokkos::complex<Real> const* in, Layout const& from,
                     Kokkos::complex<Real>* out, Layout const& to, FourierDims const& over,
                     bool forward) {
  using F = detail::FftwFunctions<Real>;
  auto* const data = reinterpret_cast<Real*>(const_cast<Kokkos::complex<Real>*>(in));
  detail::FftwShape s = detail::fftw_shape(
      forward ? detail::FftwKind::forward : detail::FftwKind::backward, from, to, over, 0);
  s.in_place = in == out;
  s.aligned = F::alignment(data) == 0 && F::alignment(reinterpret_cast<Real*>(out)) == 0;
  F::run_complex(detail::fftw_plans<Real>().get(s), reinterpret_cast<typename F::Complex*>(data),
                 reinterpret_cast<typename F::Complex*>(out));
}

/// Transforms dims `over` of a real block; the last one has n / 2 + 1 rows in the complex block.
template <class Real>
void fourier_real(Real const* in, Layout const& from, Kokkos::complex<Real>* out, Layout const& to,
                  FourierDims const& over) {
  using F = detail::FftwFunctions<Real>;
  auto* const data = const_cast<Real*>(in);
  detail::FftwShape s = detail::fftw_shape(detail::FftwKind::real, from, to, over, 0);
  s.aligned = F::alignment(data) == 0 && F::alignment(reinterpret_cast<Real*>(out)) == 0;
  F::run_real(detail::fftw_plans<Real>().get(s), data, reinterpret_cast<typename F::Complex*>(out));
}

/// The real rows along dim `d` from their n / 2 + 1 complex ones.
template <class Real>
void fourier_half(Kokkos::complex<Real> const* in, Layout const& from, Real* out, Layout const& to,
                  int d) {
  using F = detail::FftwFunctions<Real>;
  auto* const data = reinterpret_cast<Real*>(const_cast<Kokkos::complex<Real>*>(in));
  FourierDims over;
  over.push(d);
  detail::FftwShape s = detail::fftw_shape(detail::FftwKind::half, from, to, over, to.extent[d]);
  s.aligned = F::alignment(data) == 0 && F::alignment(out) == 0;
  F::run_half(detail::fftw_plans<Real>().get(s), reinterpret_cast<typename F::Complex*>(data), out);
}

}  // namespace shardtype::kernels

#endif
