#pragma once
/// Powers of two by which matrices of very small or very large numbers are scaled before they are
/// factorized, as LAPACK's drivers do (xGELS, xGESVX): reciprocals of subnormal numbers overflow,
/// and so do norms near the largest number.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <shardtype/linalg/kernels_lapack.hpp>

namespace shardtype::linalg::kernels {

/// Which elements of a column-major matrix are meant.
enum class Part : std::int8_t { all, upper, lower };
/// The rows of column j in an m-row matrix that belong to the part.
constexpr std::int64_t begin_of(Part part, std::int64_t j) { return part == Part::lower ? j : 0; }
constexpr std::int64_t end_of(Part part, std::int64_t j, std::int64_t m) {
  return part == Part::upper && j + 1 < m ? j + 1 : m;
}

namespace detail {

/// The largest size of `n` numbers; NaN is passed over.
template <class R>
R largest_of(R const* a, std::int64_t n) {
  constexpr std::int64_t lanes = 8;
  R most[lanes]{};
  std::int64_t k = 0;
  for (; k + lanes <= n; k += lanes)
    for (std::int64_t l = 0; l < lanes; ++l) {
      R const size = std::abs(a[k + l]);
      most[l] = size > most[l] ? size : most[l];
    }
  for (; k < n; ++k) most[0] = std::max(most[0], std::abs(a[k]));
  return *std::max_element(most, most + lanes);
}

}  // namespace detail

/// The largest part, real or imaginary, of the elements of an m x n matrix.
template <class T>
real_t<T> largest_part(std::int64_t m, std::int64_t n, T const* a, std::int64_t lda,
                       Part part = Part::all) {
  using R = real_t<T>;
  constexpr std::int64_t parts = is_complex<T> ? 2 : 1;
  auto const* const numbers = reinterpret_cast<R const*>(a);
  if (part == Part::all && lda == m) return detail::largest_of(numbers, parts * m * n);
  R most(0);
  for (std::int64_t j = 0; j < n; ++j) {
    std::int64_t const begin = begin_of(part, j), rows = end_of(part, j, m) - begin;
    most = std::max(most, detail::largest_of(numbers + parts * (j * lda + begin), parts * rows));
  }
  return most;
}
/// The exponent of the power of two that brings `largest` near 1; 0 where it is far enough from the
/// least and the largest number, and of 0 and infinity.
template <class R>
int scaling_exponent(R largest) {
  constexpr R small = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  if (!(largest > R(0)) || largest > std::numeric_limits<R>::max()) return 0;
  return largest < small || largest > R(1) / small ? -std::ilogb(largest) : 0;
}
/// x 2^exponent.
template <class T>
T times_power(T const& x, int exponent) {
  if constexpr (is_complex<T>) {
    return T(std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent));
  } else {
    return std::ldexp(x, exponent);
  }
}
template <class T>
void scale_by_power(int exponent, std::int64_t m, std::int64_t n, T* a, std::int64_t lda,
                    Part part = Part::all) {
  if (exponent == 0) return;
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = begin_of(part, j); i < end_of(part, j, m); ++i)
      a[i + j * lda] = kernels::times_power(a[i + j * lda], exponent);
}
/// Scales a matrix where its numbers are very small or very large; returns the exponent.
template <class T>
int scale_matrix(std::int64_t m, std::int64_t n, T* a, std::int64_t lda) {
  int const exponent = kernels::scaling_exponent(kernels::largest_part(m, n, a, lda));
  kernels::scale_by_power(exponent, m, n, a, lda);
  return exponent;
}

#ifdef SHARDTYPE_HAVE_LAPACK

/// geqrf of a matrix that is scaled for it.
template <class T>
void factor_qr(std::int64_t m, std::int64_t n, T* a, std::int64_t lda, T* tau) {
  int const exponent = kernels::scale_matrix(m, n, a, lda);
  kernels::geqrf(m, n, a, lda, tau);
  kernels::scale_by_power(-exponent, m, n, a, lda, Part::upper);
}

#endif

}  // namespace shardtype::linalg::kernels
