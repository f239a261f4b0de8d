#pragma once
/// Numbers of a matrix by its factors. The 1-norm of an inverse, estimated from a few solutions
/// (Hager, "Condition estimates", 1984; Higham, "FORTRAN codes for estimating the one-norm of a
/// real or complex matrix, with applications to condition estimation", 1988; LAPACK's xLACN2).
/// Products of pivots that neither overflow nor underflow on the way, and the cofactors of a
/// matrix, of singular ones too.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include <shardtype/linalg/kernels_own.hpp>
#include <shardtype/linalg/types_loops.hpp>

namespace shardtype::linalg::kernels {

/// x / |x|, and 1 of 0.
template <class T>
T sign_of(T const& x) {
  real_t<T> const size = kernels::modulus(x);
  return size > real_t<T>(0) ? x / size : T(1);
}

/// A number that ||a^-1||_1 is not below, seldom less than a third of it; NaN of a matrix with NaN,
/// and infinity where solutions are infinite. `x` and `signs` have n elements. `how` has
///   solve(x): x = a^-1 x, of which the caller needs the own elements,
///   solve_adjoint(x): x = a^-H x, whose own elements are given, to all elements,
///   for_own(visit): calls visit(i) for the own elements,
///   sum(two): the sums of two numbers over all who have own elements, the same bits for all.
/// On one rank all elements are own.
template <class T, class How>
real_t<T> inverse_norm(How const& how, std::int64_t n, T* x, T* signs) {
  using R = real_t<T>;
  if (n == 0) return R(0);
  // the sum of sizes of the solution x, and how many signs are others than before
  R sums[2];
  auto const solve = [&] {
    how.solve(x);
    sums[0] = sums[1] = R(0);
    how.for_own([&](std::int64_t i) {
      sums[0] += kernels::modulus(x[i]);
      T const sign = kernels::sign_of(x[i]);
      sums[1] += sign == signs[i] ? R(0) : R(1);
      signs[i] = sign;
    });
    how.sum(sums);
    return sums[0];
  };
  for (std::int64_t i = 0; i < n; ++i) x[i] = T(R(1) / static_cast<R>(n)), signs[i] = T(0);
  R most(0);
  std::int64_t at = -1;
  for (int round = 0; round < condition_rounds; ++round) {
    R const size = solve();
    if (!std::isfinite(size) || n == 1) return size;
    bool const grew = size > most;
    if (grew) most = size;
    if (!grew || sums[1] == R(0)) break;
    how.for_own([&](std::int64_t i) { x[i] = signs[i]; });
    how.solve_adjoint(x);
    std::int64_t column = 0;
    for (std::int64_t i = 1; i < n; ++i)
      if (kernels::modulus(x[i]) > kernels::modulus(x[column])) column = i;
    if (column == at || (at >= 0 && kernels::modulus(x[column]) == kernels::modulus(x[at]))) break;
    at = column;
    for (std::int64_t i = 0; i < n; ++i) x[i] = T(i == at ? 1 : 0);
  }
  // a column that the gradients do not lead to
  for (std::int64_t i = 0; i < n; ++i) {
    R const size = R(1) + static_cast<R>(i) / static_cast<R>(n - 1);
    x[i] = T(i % 2 == 0 ? size : -size);
  }
  R const other = R(2) * solve() / (R(3) * static_cast<R>(n));
  return other > most ? other : most;
}

/// 1 / (norm inverse) as LAPACK: 1 of an empty matrix, 0 of a singular one, NaN of one with NaN.
template <class R>
R reciprocal_condition(std::int64_t n, R norm, R inverse) {
  if (n == 0) return R(1);
  if (std::isnan(norm) || std::isnan(inverse)) return std::isnan(norm) ? norm : inverse;
  if (norm == R(0) || inverse == R(0)) return R(0);
  return R(1) / inverse / norm;
}

/// The solutions with one column-major n x n matrix of factor_lu, for `inverse_norm`.
template <class T>
struct FactoredSolutions {
  std::int64_t n;
  T const* factors;
  std::int32_t const* pivots;

  void solve(T* x) const { kernels::solve_lu(Trans::no, n, 1, factors, n, pivots, x, n); }
  void solve_adjoint(T* x) const {
    kernels::solve_lu(Trans::conjugate, n, 1, factors, n, pivots, x, n);
  }
  void for_own(auto visit) const {
    for (std::int64_t i = 0; i < n; ++i) visit(i);
  }
  static void sum(real_t<T>*) {}
};

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
