#pragma once
/// Vector registers of the host.

#include <cmath>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/math.hpp>

namespace shardtype::kernels::detail {

// The width of a register. All parts of a program must be compiled for the same instruction set, so
// that it agrees.
#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

template <class R, bool Vectorised>
struct VectorOf {
  using Type = R;
  using Short = R;
  using Half = R;
};
template <class R>
struct VectorOf<R, true> {
  // NOLINTBEGIN(modernize-use-using): the attribute of a dependent type needs it in g++
  typedef R Type __attribute__((vector_size(vector_bytes)));
  typedef R Short __attribute__((vector_size(16)));
  typedef R Half __attribute__((vector_size(vector_bytes / 2)));
  // NOLINTEND(modernize-use-using)
};
/// A vector of numbers, or a single one if `Vectorised` is false.
template <class R, bool Vectorised = true>
using vector_of = typename VectorOf<R, Vectorised>::Type;
template <class R, bool Vectorised = true>
using short_vector_of = typename VectorOf<R, Vectorised>::Short;
template <class R>
using half_vector_of = typename VectorOf<R, true>::Half;

/// Whether compilers have vectors of such numbers, of at least four bytes each.
template <class R>
inline constexpr bool has_vectors = std::is_arithmetic_v<R> && sizeof(R) >= 4 && sizeof(R) <= 8;

/// Whether the host computes in vectors explicitly; not in programs for devices, whose compilers
/// lack some functions of them.
#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL)
inline constexpr bool computes_in_vectors = false;
#else
inline constexpr bool computes_in_vectors = true;
#endif

template <class R>
inline constexpr int vector_lanes = vector_bytes / static_cast<int>(sizeof(R));

/// a * b + c, rounded once where the processor does it so, and otherwise twice. Explicitly in one
/// way, because compilers fuse some products with sums and not others.
template <class V>
KOKKOS_INLINE_FUNCTION V fused(V const& a, V const& b, V const& c) {
#if defined(__FMA__) || defined(__FP_FAST_FMA) || defined(__CUDA_ARCH__) || \
    defined(__HIP_DEVICE_COMPILE__)
  if constexpr (std::is_floating_point_v<V>) {
    return std::fma(a, b, c);
  } else {
#if defined(__clang__)
    return __builtin_elementwise_fma(a, b, c);
#elif defined(__AVX512F__)
    if constexpr (sizeof(a[0]) == 4) {
      return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4);
    } else {
      return __builtin_ia32_vfmaddpd512_mask(a, b, c, 0xff, 4);
    }
#elif defined(__AVX__)
    if constexpr (sizeof(a[0]) == 4) {
      return __builtin_ia32_vfmaddps256(a, b, c);
    } else {
      return __builtin_ia32_vfmaddpd256(a, b, c);
    }
#else
    V out;
    for (unsigned k = 0; k < sizeof(V) / sizeof(a[0]); ++k) out[k] = std::fma(a[k], b[k], c[k]);
    return out;
#endif
  }
#else
  return a * b + c;
#endif
}

/// The square root, of a vector by the instruction: g++ vectorises std::sqrt only if it need not
/// set errno.
template <class V>
KOKKOS_INLINE_FUNCTION V root(V const& x) {
  if constexpr (std::is_arithmetic_v<V>) {
    return math::sqrt(x);
  } else {
#if defined(__clang__)
    return __builtin_elementwise_sqrt(x);
#elif defined(__AVX512F__)
    if constexpr (sizeof(x[0]) == 4) {
      return __builtin_ia32_sqrtps512_mask(x, x, -1, 4);
    } else {
      return __builtin_ia32_sqrtpd512_mask(x, x, -1, 4);
    }
#elif defined(__AVX__)
    if constexpr (sizeof(x[0]) == 4) {
      return __builtin_ia32_sqrtps256(x);
    } else {
      return __builtin_ia32_sqrtpd256(x);
    }
#elif defined(__SSE2__)
    if constexpr (sizeof(x[0]) == 4) {
      return __builtin_ia32_sqrtps(x);
    } else {
      return __builtin_ia32_sqrtpd(x);
    }
#else
    V out;
    for (unsigned k = 0; k < sizeof(V) / sizeof(x[0]); ++k) out[k] = std::sqrt(x[k]);
    return out;
#endif
  }
}

}  // namespace shardtype::kernels::detail
