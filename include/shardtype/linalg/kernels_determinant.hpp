#pragma once
/// Products of pivots that neither overflow nor underflow on the way, and the cofactors of a
/// matrix, of singular ones too.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include <shardtype/linalg/kernels_own.hpp>

namespace shardtype::linalg::kernels {

template <class T>
double imaginary_part([[maybe_unused]] T const& x) {
  if constexpr (is_complex<T>) {
    return static_cast<double>(x.imag());
  } else {
    return 0;
  }
}

/// (real + i imaginary) 2^exponent. Once it is 0 it stays 0, beside infinity and NaN too: the
/// matrix is singular.
struct ScaledNumber {
  double real = 1, imaginary = 0, exponent = 0;

  bool zero() const { return real == 0 && imaginary == 0; }
  void multiply(double x, double y) {
    if (zero()) return;
    if (double const size = std::max(std::abs(x), std::abs(y));
        !(size > 0x1p-500 && size < 0x1p500))
      normalize(x, y);
    if (y == 0 && imaginary == 0) {
      real *= x;
    } else if (x == 0 && y == 0) {
      real = imaginary = 0;
    } else {
      double const re = real * x - imaginary * y;
      imaginary = imaginary * x + real * y;
      real = re;
    }
    if (double const size = std::max(std::abs(real), std::abs(imaginary));
        !(size > 0x1p-200 && size < 0x1p200))
      normalize(real, imaginary);
  }
  void multiply(ScaledNumber const& other) {
    multiply(other.real, other.imaginary);
    exponent += other.exponent;
  }
  template <class T>
  void multiply(T const& x) {
    multiply(static_cast<double>(kernels::real_part(x)), kernels::imaginary_part(x));
  }
  template <class T>
  T value() const {
    using R = real_t<T>;
    int const by = static_cast<int>(std::clamp(exponent, -1e6, 1e6));
    auto const re = static_cast<R>(std::ldexp(real, by));
    if constexpr (is_complex<T>) {
      return T(re, static_cast<R>(std::ldexp(imaginary, by)));
    } else {
      return re;
    }
  }

 private:
  /// The larger part becomes a number from 1 to 2.
  void normalize(double& x, double& y) {
    double const size = std::max(std::abs(x), std::abs(y));
    if (!(size > 0) || !std::isfinite(size)) return;
    int const by = std::ilogb(size);
    x = std::ldexp(x, -by), y = std::ldexp(y, -by);
    exponent += by;
  }
};

/// x / |x|; 0 of 0, of infinity its direction, and 1 of a real NaN, as NumPy.
template <class T>
T direction(T const& x) {
  using R = real_t<T>;
  if constexpr (is_complex<T>) {
    R re = x.real(), im = x.imag();
    R const size = std::max(std::abs(re), std::abs(im));
    if (size == R(0)) return T(0);
    if (std::isinf(re) || std::isinf(im)) {
      auto const side = [](R v) { return std::isinf(v) ? std::copysign(R(1), v) : v * R(0); };
      re = side(re), im = side(im);
    } else if (std::isfinite(size)) {
      int const by = -std::ilogb(size);
      re = std::ldexp(re, by), im = std::ldexp(im, by);
    }
    R const length = std::hypot(re, im);
    return T(re / length, im / length);
  } else {
    return x == R(0) ? R(0) : x < R(0) ? R(-1) : R(1);
  }
}
/// log |x|, where |x| itself may be no number.
template <class T>
double log_modulus(T const& x) {
  if constexpr (is_complex<T>) {
    auto const re = static_cast<double>(x.real()), im = static_cast<double>(x.imag());
    double const size = std::max(std::abs(re), std::abs(im));
    if (!(size > 0) || !std::isfinite(size)) return std::log(std::hypot(re, im));
    int const by = std::ilogb(size);
    return std::log(std::hypot(std::ldexp(re, -by), std::ldexp(im, -by))) + by * std::numbers::ln2;
  } else {
    return std::log(std::abs(static_cast<double>(x)));
  }
}

/// The adjugate of the column-major n x n matrix a, which is overwritten, times 2^exponent, to
/// `out`: its element (j, i) is the derivative of the determinant by a_ij. By complete pivoting a =
/// P L D U Q with unit triangles L and U, and a diagonal of which one or more elements are 0 where
/// a is singular: that of D has products of the others.
template <class T>
void adjugate(std::int64_t n, T* a, int exponent, T* out) {
  auto const at = [n](T* m, std::int64_t i, std::int64_t j) -> T& { return m[i + j * n]; };
  std::fill_n(out, n * n, T(0));
  std::vector<std::int64_t> rows, columns;
  ScaledNumber sign;
  std::int64_t rank = 0;
  for (; rank < n; ++rank) {
    std::int64_t const k = rank;
    std::int64_t p = k, q = k;
    for (std::int64_t j = k; j < n; ++j)
      for (std::int64_t i = k; i < n; ++i)
        if (kernels::size_of(at(a, i, j)) > kernels::size_of(at(a, p, q))) p = i, q = j;
    if (kernels::size_of(at(a, p, q)) == real_t<T>(0)) break;
    rows.push_back(p), columns.push_back(q);
    if ((p == k) != (q == k)) sign.multiply(-1, 0);
    for (std::int64_t j = 0; j < n && p != k; ++j) std::swap(at(a, k, j), at(a, p, j));
    for (std::int64_t i = 0; i < n && q != k; ++i) std::swap(at(a, i, k), at(a, i, q));
    T const pivot = at(a, k, k);
    for (std::int64_t i = k + 1; i < n; ++i) at(a, i, k) = at(a, i, k) / pivot;
    for (std::int64_t j = k + 1; j < n; ++j)
      for (std::int64_t i = k + 1; i < n; ++i) at(a, i, j) -= at(a, i, k) * at(a, k, j);
    for (std::int64_t j = k + 1; j < n; ++j) at(a, k, j) = at(a, k, j) / pivot;
  }
  if (rank + 1 < n) return;
  // the products of the other pivots
  std::vector<ScaledNumber> others(static_cast<std::size_t>(n), sign);
  auto const pass = [&](std::int64_t begin, std::int64_t end, std::int64_t step) {
    ScaledNumber product;
    for (std::int64_t k = begin; k != end; k += step) {
      others[static_cast<std::size_t>(k)].multiply(product);
      product.multiply(k < rank ? at(a, k, k) : T(0));
    }
  };
  pass(0, n, 1);
  pass(n - 1, -1, -1);
  double most = -1e300;
  for (ScaledNumber const& x : others)
    if (!x.zero()) most = std::max(most, x.exponent);
  // U^-1 adj(D) L^-1
  for (std::int64_t k = 0; k < n; ++k) at(out, k, k) = T(1);
  kernels::solve_triangular(Triangle::lower, Trans::no, Diagonal::unit, n, n, a, n, out, n);
  for (std::int64_t i = 0; i < n; ++i) {
    ScaledNumber x = others[static_cast<std::size_t>(i)];
    x.exponent -= most;
    T const factor = x.template value<T>();
    for (std::int64_t j = 0; j < n; ++j) at(out, i, j) = factor * at(out, i, j);
  }
  kernels::solve_triangular(Triangle::upper, Trans::no, Diagonal::unit, n, n, a, n, out, n);
  for (std::int64_t k = rank - 1; k >= 0; --k) {
    std::int64_t const p = rows[static_cast<std::size_t>(k)];
    std::int64_t const q = columns[static_cast<std::size_t>(k)];
    for (std::int64_t i = 0; i < n && p != k; ++i) std::swap(at(out, i, k), at(out, i, p));
    for (std::int64_t j = 0; j < n && q != k; ++j) std::swap(at(out, k, j), at(out, q, j));
  }
  double const by = std::clamp(most + exponent, -1e6, 1e6);
  kernels::scale_by_power(static_cast<int>(by), n, n, out, n);
}

}  // namespace shardtype::linalg::kernels
