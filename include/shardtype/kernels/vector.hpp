#pragma once
/// Vector registers of the host.

#include <type_traits>

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

template <class R>
inline constexpr int vector_lanes = vector_bytes / static_cast<int>(sizeof(R));

}  // namespace shardtype::kernels::detail
