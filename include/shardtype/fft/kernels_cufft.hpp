#pragma once
/// Local Fourier transforms by cuFFT, on CUDA. One plan for each shape is kept, with its work area.
/// Rows of real numbers are packed first: cuFFT wants real numbers aligned as complex ones, and
/// overwrites the operand of a complex-to-real transform.

#include <Kokkos_Core.hpp>

#if defined(KOKKOS_ENABLE_CUDA) && defined(SHARDTYPE_HAVE_CUFFT)

#include <cstddef>
#include <cstdint>
#include <string>

#include <cufft.h>

#include <shardtype/core/error.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/fft/kernels_rows.hpp>
#include <shardtype/kernels/copy.hpp>
#include <shardtype/kernels/unpack.hpp>
#include <shardtype/runtime/instance.hpp>

namespace shardtype::kernels {

namespace detail {

/// Error E74 unless `status` is success.
inline void check_cufft(cufftResult status, char const* what) {
  if (status == CUFFT_SUCCESS) return;
  char const* why = status == CUFFT_ALLOC_FAILED     ? ": no memory for its work area"
                    : status == CUFFT_INVALID_SIZE   ? ": it does not take this number of rows"
                    : status == CUFFT_INVALID_DEVICE ? ": no such device"
                    : status == CUFFT_SETUP_FAILED   ? ": no device can be used"
                    : status == CUFFT_INTERNAL_ERROR ? ": an error of the driver"
                                                     : "";
  throw Error("E74", std::string(what) + " of cuFFT failed with status " +
                         std::to_string(static_cast<int>(status)) + why);
}

/// The functions of cuFFT for one precision.
template <class Real>
struct CufftFunctions;
template <>
struct CufftFunctions<float> {
  using Complex = cufftComplex;
  static constexpr cufftType complex_type = CUFFT_C2C;
  static constexpr cufftType real_type = CUFFT_R2C;
  static constexpr cufftType half_type = CUFFT_C2R;
  static constexpr auto complex = &cufftExecC2C;
  static constexpr auto real = &cufftExecR2C;
  static constexpr auto half = &cufftExecC2R;
};
template <>
struct CufftFunctions<double> {
  using Complex = cufftDoubleComplex;
  static constexpr cufftType complex_type = CUFFT_Z2Z;
  static constexpr cufftType real_type = CUFFT_D2Z;
  static constexpr cufftType half_type = CUFFT_Z2D;
  static constexpr auto complex = &cufftExecZ2Z;
  static constexpr auto real = &cufftExecD2Z;
  static constexpr auto half = &cufftExecZ2D;
};

/// Rows of one dim as cuFFT takes them: equal shapes share a plan.
struct CufftShape {
  cufftType type{};
  int device = 0;
  std::int64_t n = 1;  ///< numbers in a row, of the real ones if some are real
  std::int64_t batch = 1;
  std::int64_t stride = 1, stride_out = 1;      ///< between the numbers of a row
  std::int64_t distance = 1, distance_out = 1;  ///< between rows

  friend bool operator==(CufftShape const&, CufftShape const&) = default;
};

/// The plans of this process. They end with Kokkos, while there is a device.
class CufftPlans {
 public:
  cufftHandle get(CufftShape const& shape) {
    for (Known const& k : known_)
      if (k.shape == shape) return k.plan;
    cufftHandle const plan = planned(shape);
    if (!hooked_) Kokkos::push_finalize_hook([this] { clear(); });
    hooked_ = true;
    // shapes that change at every call must not fill the memory
    if (known_.size() == 64) {
      cufftDestroy(known_[0].plan);
      known_.erase(0);
    }
    return known_.push_back({shape, plan}).plan;
  }

 private:
  struct Known {
    CufftShape shape{};
    cufftHandle plan = 0;
  };

  static cufftHandle planned(CufftShape const& s) {
    cufftHandle plan = 0;
    check_cufft(cufftCreate(&plan), "a plan");
    long long n = s.n;
    // one dim: what embeds a row is not read, but it must not be null, or the strides would be
    long long embed = s.n;
    std::size_t work = 0;
    cufftResult const status =
        cufftMakePlanMany64(plan, 1, &n, &embed, s.stride, s.distance, &embed, s.stride_out,
                            s.distance_out, s.type, s.batch, &work);
    if (status != CUFFT_SUCCESS) cufftDestroy(plan);
    check_cufft(status, "a plan");
    return plan;
  }
  void clear() {
    for (Known const& k : known_) cufftDestroy(k.plan);
    known_.clear();
    hooked_ = false;
  }

  shardtype::detail::List<Known> known_;
  bool hooked_ = false;
};

inline cufftHandle cufft_plan(CufftShape shape, cudaStream_t stream) {
  static CufftPlans plans;
  if (cudaGetDevice(&shape.device) != cudaSuccess)
    throw Error("E74", "cuFFT needs a device, and there is none");
  cufftHandle const plan = plans.get(shape);
  check_cufft(cufftSetStream(plan, stream), "a stream");
  return plan;
}

/// The rows along dim `d` of two blocks: the longest of the other dims is cuFFT's loop, the others
/// are loops of the host.
struct CufftRows {
  CufftShape shape{};
  Layout loops{};
  Layout loops_out{};

  CufftRows(Layout const& from, Layout const& to, int d) {
    shape.n = from.extent[d];
    shape.stride = from.stride[d];
    shape.stride_out = to.stride[d];
    for (int k = 0; k < from.rank; ++k)
      if (k != d && from.extent[k] != 1) add(from.extent[k], from.stride[k], to.stride[k]);
    if (loops.rank == 0) return;
    int longest = 0;
    for (int k = 1; k < loops.rank; ++k)
      if (loops.extent[k] > loops.extent[longest]) longest = k;
    shape.batch = loops.extent[longest];
    shape.distance = loops.stride[longest];
    shape.distance_out = loops_out.stride[longest];
    erase(loops, longest);
    erase(loops_out, longest);
  }

 private:
  /// Adds a loop inside of the others, as one with the innermost of them where strides allow it.
  void add(std::int64_t n, std::int64_t in, std::int64_t out) {
    int const last = loops.rank - 1;
    if (last >= 0 && loops.stride[last] == n * in && loops_out.stride[last] == n * out) {
      loops.extent[last] = loops_out.extent[last] = n * loops.extent[last];
      loops.stride[last] = in;
      loops_out.stride[last] = out;
      return;
    }
    loops.extent[loops.rank] = loops_out.extent[loops.rank] = n;
    loops.stride[loops.rank++] = in;
    loops_out.stride[loops_out.rank++] = out;
  }
  static void erase(Layout& l, int at) {
    --l.rank;
    for (int k = at; k < l.rank; ++k) {
      l.extent[k] = l.extent[k + 1];
      l.stride[k] = l.stride[k + 1];
    }
  }
};

/// A block's layout with dim `d` as the last one.
inline Layout rows_last(Layout l, int d) {
  std::int64_t const extent = l.extent[d];
  std::int64_t const stride = l.stride[d];
  for (int k = d; k + 1 < l.rank; ++k) {
    l.extent[k] = l.extent[k + 1];
    l.stride[k] = l.stride[k + 1];
  }
  l.extent[l.rank - 1] = extent;
  l.stride[l.rank - 1] = stride;
  return l;
}

/// A block's rows of real numbers and those of their transforms, each packed, and the plan for
/// them.
template <class Real>
struct CufftRealRows {
  using Exec = typename Kokkos::Cuda::execution_space;
  template <class T>
  using Memory = Kokkos::View<T*, typename Exec::memory_space>;

  Layout from, to;  ///< with the rows last
  Memory<Real> reals;
  Memory<Kokkos::complex<Real>> halves;
  CufftShape shape;

  /// `real` and `half`: the layouts of the blocks; both have the same dim `d`.
  CufftRealRows(Layout const& real, Layout const& half, int d, cufftType type)
      : from(rows_last(real, d)),
        to(rows_last(half, d)),
        reals(Kokkos::view_alloc(Kokkos::WithoutInitializing, "shardtype::rows"),
              static_cast<std::size_t>(real.elements())),
        halves(Kokkos::view_alloc(Kokkos::WithoutInitializing, "shardtype::transformed rows"),
               static_cast<std::size_t>(half.elements())) {
    shape.type = type;
    shape.n = real.extent[d];
    shape.batch = real.elements() / shape.n;
    bool const forward = type == CufftFunctions<Real>::real_type;
    shape.distance = forward ? shape.n : half.extent[d];
    shape.distance_out = forward ? half.extent[d] : shape.n;
  }
};

}  // namespace detail

/// fourier_complex by cuFFT, as on the host; complete on return.
template <class Real>
void fourier_complex(Kokkos::Cuda const& exec, Kokkos::complex<Real> const* in, Layout const& from,
                     Kokkos::complex<Real>* out, Layout const& to, FourierDims const& over,
                     bool forward) {
  using F = detail::CufftFunctions<Real>;
  auto* source = reinterpret_cast<typename F::Complex*>(const_cast<Kokkos::complex<Real>*>(in));
  auto* const made = reinterpret_cast<typename F::Complex*>(out);
  Layout const* layout = &from;
  for (int k = 0; k < over.size; ++k) {
    detail::CufftRows rows(*layout, to, over.at[k]);
    rows.shape.type = F::complex_type;
    cufftHandle const plan = detail::cufft_plan(rows.shape, exec.cuda_stream());
    for_fourier_rows(rows.loops, rows.loops_out, -1, [&](std::int64_t a, std::int64_t b) {
      detail::check_cufft(
          F::complex(plan, source + a, made + b, forward ? CUFFT_FORWARD : CUFFT_INVERSE),
          "a transform");
    });
    source = made;
    layout = &to;
  }
  runtime::fence(exec);
}

/// fourier_real by cuFFT, as on the host; complete on return. Allocates the packed rows.
template <class Real>
void fourier_real(Kokkos::Cuda const& exec, Real const* in, Layout const& from,
                  Kokkos::complex<Real>* out, Layout const& to, FourierDims const& over) {
  using F = detail::CufftFunctions<Real>;
  using Exec = typename Kokkos::Cuda::execution_space;
  Exec const& kernels_on = exec;
  detail::CufftRealRows<Real> const rows(from, to, over.last(), F::real_type);
  copy_packed(kernels_on, in, rows.from, rows.reals.data());
  detail::check_cufft(F::real(detail::cufft_plan(rows.shape, exec.cuda_stream()), rows.reals.data(),
                              reinterpret_cast<typename F::Complex*>(rows.halves.data())),
                      "a transform");
  Kokkos::complex<Real> const* const halves = rows.halves.data();
  copy_unpacked(kernels_on, halves, rows.to, out);
  runtime::fence(exec);
  FourierDims others = over;
  --others.size;
  if (others.size > 0) fourier_complex(exec, out, to, out, to, others, true);
}

/// fourier_half by cuFFT, as on the host; complete on return. Allocates the packed rows.
template <class Real>
void fourier_half(Kokkos::Cuda const& exec, Kokkos::complex<Real> const* in, Layout const& from,
                  Real* out, Layout const& to, int d) {
  using F = detail::CufftFunctions<Real>;
  using Exec = typename Kokkos::Cuda::execution_space;
  Exec const& kernels_on = exec;
  detail::CufftRealRows<Real> const rows(to, from, d, F::half_type);
  copy_packed(kernels_on, in, rows.to, rows.halves.data());
  detail::check_cufft(
      F::half(detail::cufft_plan(rows.shape, exec.cuda_stream()),
              reinterpret_cast<typename F::Complex*>(rows.halves.data()), rows.reals.data()),
      "a transform");
  Real const* const reals = rows.reals.data();
  copy_unpacked(kernels_on, reals, rows.from, out);
  runtime::fence(exec);
}

}  // namespace shardtype::kernels

#endif
