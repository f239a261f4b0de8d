#pragma once
/// Factorisations and solutions of one column-major matrix: by LAPACK where the program has it,
/// else by plain loops, with the same pivots.

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/complex_division.hpp>
#include <shardtype/linalg/kernels_scale.hpp>

namespace shardtype::linalg::kernels {

/// |re| + |im|, by which LAPACK compares pivots.
template <class T>
real_t<T> size_of(T const& x) {
  if constexpr (is_complex<T>) {
    return std::abs(x.real()) + std::abs(x.imag());
  } else {
    return std::abs(x);
  }
}
template <class T>
T conjugate(T const& x) {
  if constexpr (is_complex<T>) {
    return Kokkos::conj(x);
  } else {
    return x;
  }
}
template <class T>
real_t<T> real_part(T const& x) {
  if constexpr (is_complex<T>) {
    return x.real();
  } else {
    return x;
  }
}
template <class T>
real_t<T> modulus(T const& x) {
  if constexpr (is_complex<T>) {
    return Kokkos::abs(x);
  } else {
    return std::abs(x);
  }
}
/// x / y, of complex numbers without overflow on the way.
template <class T>
T divided(T const& x, T const& y) {
  if constexpr (is_complex<T>) {
    return shardtype::kernels::quotient(x, y);
  } else {
    return x / y;
  }
}
/// NaN, in both parts of a complex number.
template <class T>
T not_a_number() {
  real_t<T> const nan = std::numeric_limits<real_t<T>>::quiet_NaN();
  if constexpr (is_complex<T>) {
    return T(nan, nan);
  } else {
    return nan;
  }
}

/// Whether no element is NaN or infinite.
template <class T>
bool finite(T const* a, std::int64_t n) {
  real_t<T> sum(0);
  for (std::int64_t k = 0; k < n; ++k) sum += kernels::size_of(a[k]) * real_t<T>(0);
  return sum == real_t<T>(0);
}

namespace detail {

template <class T>
std::int32_t factor_scaled_lu(std::int64_t n, T* a, std::int64_t lda, std::int32_t* pivots) {
#ifdef SHARDTYPE_HAVE_LAPACK
  std::int32_t const info = kernels::getrf(n, n, a, lda, pivots);
  for (std::int64_t k = 0; k < n; ++k) --pivots[k];
  return info;
#else
  std::int32_t info = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t at = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (size_of(a[i + k * lda]) > size_of(a[at + k * lda])) at = i;
    pivots[k] = static_cast<std::int32_t>(at);
    if (at != k)
      for (std::int64_t j = 0; j < n; ++j) std::swap(a[k + j * lda], a[at + j * lda]);
    T const pivot = a[k + k * lda];
    if (size_of(pivot) == real_t<T>(0)) {
      if (info == 0) info = static_cast<std::int32_t>(k + 1);
      continue;
    }
    for (std::int64_t i = k + 1; i < n; ++i)
      a[i + k * lda] = kernels::divided(a[i + k * lda], pivot);
    for (std::int64_t j = k + 1; j < n; ++j) {
      T const f = a[k + j * lda];
      for (std::int64_t i = k + 1; i < n; ++i) a[i + j * lda] -= a[i + k * lda] * f;
    }
  }
  return info;
#endif
}

}  // namespace detail

/// P A = L U in place with partial pivoting, of a matrix that is scaled for it; the pivots, from 0
/// on. Returns 0, or k if the k-th pivot is 0 (from 1 on).
template <class T>
std::int32_t factor_lu(std::int64_t n, T* a, std::int64_t lda, std::int32_t* pivots) {
  int const exponent = kernels::scale_matrix(n, n, a, lda);
  std::int32_t const info = detail::factor_scaled_lu(n, a, lda, pivots);
  kernels::scale_by_power(-exponent, n, n, a, lda, Part::upper);
  return info;
}

namespace detail {

template <class T>
void solve_scaled_triangular(Triangle part, Trans op, Diagonal diagonal, std::int64_t n,
                             std::int64_t count, T const* a, std::int64_t lda, T* b,
                             std::int64_t ldb) {
#ifdef SHARDTYPE_HAVE_LAPACK
  kernels::trsm(Side::left, part, op, diagonal, n, count, a, lda, b, ldb);
#else
  auto const at = [&](std::int64_t i, std::int64_t j) {
    T const x = op == Trans::no ? a[i + j * lda] : a[j + i * lda];
    return op == Trans::conjugate ? conjugate(x) : x;
  };
  bool const forward = (part == Triangle::lower) == (op == Trans::no);
  for (std::int64_t c = 0; c < count; ++c) {
    T* const x = b + c * ldb;
    for (std::int64_t s = 0; s < n; ++s) {
      std::int64_t const i = forward ? s : n - 1 - s;
      T sum = x[i];
      for (std::int64_t j = forward ? 0 : i + 1; j < (forward ? i : n); ++j) sum -= at(i, j) * x[j];
      x[i] = diagonal == Diagonal::unit ? sum : kernels::divided(sum, at(i, i));
    }
  }
#endif
}

/// Whether a triangle with this diagonal may have to be scaled.
template <class T>
bool extreme_diagonal(std::int64_t n, T const* a, std::int64_t step) {
  real_t<T> most(0);
  for (std::int64_t k = 0; k < n; ++k) most = std::max(most, kernels::size_of(a[k * step]));
  return kernels::scaling_exponent(most) != 0;
}

}  // namespace detail

/// b = op(A)^-1 b for a triangular a; both are scaled for it where that is needed.
template <class T>
void solve_triangular(Triangle part, Trans op, Diagonal diagonal, std::int64_t n,
                      std::int64_t count, T const* a, std::int64_t lda, T* b, std::int64_t ldb) {
  Part const read = part == Triangle::upper ? Part::upper : Part::lower;
  int exponent = 0;
  if (diagonal == Diagonal::general && detail::extreme_diagonal(n, a, lda + 1))
    exponent = kernels::scaling_exponent(kernels::largest_part(n, n, a, lda, read));
  if (exponent == 0)
    return detail::solve_scaled_triangular(part, op, diagonal, n, count, a, lda, b, ldb);
  std::vector<T> scaled(static_cast<std::size_t>(n * n));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = begin_of(read, j); i < end_of(read, j, n); ++i)
      scaled[static_cast<std::size_t>(i + j * n)] = kernels::times_power(a[i + j * lda], exponent);
  int const of_b = kernels::scale_matrix(n, count, b, ldb);
  detail::solve_scaled_triangular(part, op, diagonal, n, count, scaled.data(), n, b, ldb);
  kernels::scale_by_power(exponent - of_b, n, count, b, ldb);
}

/// b = op(A)^-1 b for the factors and pivots of factor_lu.
template <class T>
void solve_lu(Trans op, std::int64_t n, std::int64_t count, T const* a, std::int64_t lda,
              std::int32_t const* pivots, T* b, std::int64_t ldb) {
  auto const exchange = [&](std::int64_t k) {
    if (pivots[k] != k)
      for (std::int64_t c = 0; c < count; ++c) std::swap(b[k + c * ldb], b[pivots[k] + c * ldb]);
  };
  if (op == Trans::no) {
    for (std::int64_t k = 0; k < n; ++k) exchange(k);
    kernels::solve_triangular(Triangle::lower, op, Diagonal::unit, n, count, a, lda, b, ldb);
    kernels::solve_triangular(Triangle::upper, op, Diagonal::general, n, count, a, lda, b, ldb);
  } else {
    kernels::solve_triangular(Triangle::upper, op, Diagonal::general, n, count, a, lda, b, ldb);
    kernels::solve_triangular(Triangle::lower, op, Diagonal::unit, n, count, a, lda, b, ldb);
    for (std::int64_t k = n - 1; k >= 0; --k) exchange(k);
  }
}

/// A = L L^H in the lower triangle. Returns 0, or k if the leading minor of order k is not positive
/// definite.
template <class T>
std::int32_t factor_cholesky(std::int64_t n, T* a, std::int64_t lda) {
#ifdef SHARDTYPE_HAVE_LAPACK
  return kernels::potrf(Triangle::lower, n, a, lda);
#else
  for (std::int64_t k = 0; k < n; ++k) {
    real_t<T> const pivot = real_part(a[k + k * lda]);
    if (!(pivot > real_t<T>(0))) return static_cast<std::int32_t>(k + 1);
    real_t<T> const d = std::sqrt(pivot);
    a[k + k * lda] = T(d);
    for (std::int64_t i = k + 1; i < n; ++i) a[i + k * lda] = a[i + k * lda] / d;
    for (std::int64_t j = k + 1; j < n; ++j)
      for (std::int64_t i = j; i < n; ++i)
        a[i + j * lda] -= a[i + k * lda] * conjugate(a[j + k * lda]);
  }
  return 0;
#endif
}

}  // namespace shardtype::linalg::kernels
