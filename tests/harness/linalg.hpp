// Matrices of many kinds, and the accuracy of solutions, for tests of linear algebra.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/linalg/linalg.hpp>
#include <shardtype/shardtype.hpp>

#include "harness/catch.hpp"
#include "harness/on_ranks.hpp"

namespace linear {

using Int = std::int64_t;

// A number from -1 to 1, the same on all ranks; of complex numbers both parts.
template <class T>
T drawn(Int k, int seed) {
  auto const part = [&](Int s) {
    std::uint64_t x = static_cast<std::uint64_t>(k) * 0x9E3779B97F4A7C15U +
                      static_cast<std::uint64_t>(s + 7) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-52 - 1;
  };
  if constexpr (shardtype::linalg::kernels::is_complex<T>) {
    using R = shardtype::linalg::kernels::real_t<T>;
    return T(static_cast<R>(part(seed)), static_cast<R>(part(seed + 50)));
  } else {
    return static_cast<T>(part(seed));
  }
}

// x 2^exponent.
struct TimesPower {
  int exponent;
  template <class T>
  T operator()(T const& x) const {
    return shardtype::linalg::kernels::times_power(x, exponent);
  }
};

enum class Kind {
  random,
  graded_rows,
  graded_columns,
  growth,
  hilbert,
  permutation,
  nearly_singular,
  integers,
  tiny,
  huge,
  dominant,
  vandermonde
};
inline constexpr Kind kinds[] = {
    Kind::random,  Kind::graded_rows, Kind::graded_columns,  Kind::growth,
    Kind::hilbert, Kind::permutation, Kind::nearly_singular, Kind::integers,
    Kind::tiny,    Kind::huge,        Kind::dominant,        Kind::vandermonde};
inline char const* name(Kind kind) {
  char const* const names[] = {"random",  "graded rows", "graded columns",  "growth",
                               "Hilbert", "permutation", "nearly singular", "integers",
                               "tiny",    "huge",        "dominant",        "Vandermonde"};
  return names[static_cast<int>(kind)];
}
// A kind whose numbers float has too.
inline Kind fits_float(Kind kind) {
  bool const far = kind == Kind::tiny || kind == Kind::huge || kind == Kind::graded_rows ||
                   kind == Kind::graded_columns || kind == Kind::nearly_singular;
  return far ? Kind::random : kind;
}

// Element (i, j) of matrix t of order n.
template <class T>
T element(Kind kind, Int n, Int t, Int i, Int j) {
  using R = shardtype::linalg::kernels::real_t<T>;
  Int const stride = std::max<Int>(101, n);
  Int const k = (t * stride + i) * stride + j;
  T const random = drawn<T>(k, 1);
  auto const real = [](double x) { return T(static_cast<R>(x)); };
  double const scale = n > 1 ? 24.0 / static_cast<double>(n - 1) : 0;
  switch (kind) {
    case Kind::random:
      return random;
    case Kind::graded_rows:
      return random * real(std::pow(10, 12 - scale * static_cast<double>(i)));
    case Kind::graded_columns:
      return random * real(std::pow(10, 12 - scale * static_cast<double>(j)));
    case Kind::growth:
      return real(j == n - 1 || i == j ? 1 : i > j ? -1 : 0);
    case Kind::hilbert:
      return real(1 / static_cast<double>(i + j + 1 + t));
    case Kind::permutation:
      return real(j == (i * (n % 7 == 0 ? 1 : 7) + t) % std::max<Int>(n, 1) ? 1 : 0);
    case Kind::nearly_singular:
      return (i == n - 1 && n > 1 ? drawn<T>(t * stride * stride + j, 1) + random * real(1e-14)
                                  : random);
    case Kind::integers:
      return real(std::floor(2.5 * drawn<double>(k, 1) + 0.5));
    case Kind::tiny:
      return random * real(1e-300);
    case Kind::huge:
      return random * real(1e300 / static_cast<double>(n + 1));
    case Kind::dominant:
      return i == j ? real(static_cast<double>(n) + 1) : random;
    case Kind::vandermonde:
      return real(std::pow(drawn<double>(t * stride + i, 1), static_cast<double>(j)));
  }
  return random;
}

// By LAPACK if the program has it, else as the library does; of column-major matrices.
template <class T>
std::vector<T> reference_solution(Int n, Int width, std::vector<T> a, std::vector<T> b) {
  namespace lk = shardtype::linalg::kernels;
  std::vector<std::int32_t> pivots(static_cast<std::size_t>(n));
  lk::factor_lu(n, a.data(), n, pivots.data());
  lk::solve_lu(lk::Trans::no, n, width, a.data(), n, pivots.data(), b.data(), n);
  return b;
}

// The largest |b - a x| / (|a| |x| + |b|) of all columns, in infinity norms; 0 where a solution is
// not finite in the reference too, which the caller compares.
template <class T>
double backward_error(Int n, Int width, std::vector<T> const& a, std::vector<T> const& b,
                      std::vector<T> const& x) {
  namespace lk = shardtype::linalg::kernels;
  double most = 0;
  auto const at = [](Int k) { return static_cast<std::size_t>(k); };
  auto const size = [](T const& v) { return static_cast<long double>(lk::modulus(v)); };
  for (Int c = 0; c < width; ++c) {
    long double residual = 0, norm = 0, b_norm = 0, x_norm = 0;
    for (Int i = 0; i < n; ++i) {
      // in long double, real and imaginary parts apart
      long double re = lk::real_part(b[at(i + c * n)]), im = 0, row = 0;
      if constexpr (lk::is_complex<T>) im = b[at(i + c * n)].imag();
      for (Int j = 0; j < n; ++j) {
        T const u = a[at(i + j * n)], v = x[at(j + c * n)];
        row += size(u);
        if constexpr (lk::is_complex<T>) {
          re -= static_cast<long double>(u.real()) * v.real() -
                static_cast<long double>(u.imag()) * v.imag();
          im -= static_cast<long double>(u.real()) * v.imag() +
                static_cast<long double>(u.imag()) * v.real();
        } else {
          re -= static_cast<long double>(u) * v;
        }
      }
      residual = std::max(residual, std::abs(re) + std::abs(im));
      if (std::isnan(re) || std::isnan(im)) return INFINITY;
      norm = std::max(norm, row);
      b_norm = std::max(b_norm, size(b[at(i + c * n)]));
      x_norm = std::max(x_norm, size(x[at(i + c * n)]));
    }
    if (residual > 0)
      most = std::max(most, static_cast<double>(residual / (norm * x_norm + b_norm)));
  }
  return most;
}

// The largest modulus of all elements; infinite if one is NaN.
template <class A>
double distance(A const& a) {
  double most = 0;
  for (auto const& x : shardtype::to_host(a)) {
    double const m = static_cast<double>(shardtype::linalg::kernels::modulus(x));
    most = std::isnan(m) ? INFINITY : std::max(most, m);
  }
  return most;
}

// The largest difference of two tensors' elements, over the largest of the second one's, or over 1;
// a NaN is found.
template <class A, class B>
double distance(A const& a, B const& b) {
  namespace lk = shardtype::linalg::kernels;
  auto const x = shardtype::to_host(a);
  auto const y = shardtype::to_host(b);
  REQUIRE(x.size() == y.size());
  double most = 0, size = 1;
  for (std::size_t k = 0; k < x.size(); ++k) {
    auto const d = static_cast<double>(lk::modulus(x[k] - y[k]));
    most = d > most || d != d ? d : most;
    size = std::max(size, static_cast<double>(lk::modulus(y[k])));
  }
  return most / size;
}

// Right-hand sides, and the backward error of solutions x[J, K] of the matrix of a kind for them.
template <class T>
T right(Int i, Int k) {
  return drawn<T>(i * 5 + k + 77777, 2);
}
template <class T, class J, class K, class X>
double error_of(Kind kind, Int n, Int rights, X const& x) {
  std::vector<T> a, b, columns;
  for (Int j = 0; j < n; ++j)
    for (Int i = 0; i < n; ++i) a.push_back(element<T>(kind, n, 0, i, j));
  auto const values =
      shardtype::to_host(shardtype::reshard<shardtype::Dim<K>, shardtype::Dim<J>>(x));
  for (Int k = 0; k < rights; ++k)
    for (Int i = 0; i < n; ++i) {
      b.push_back(right<T>(i, k));
      columns.push_back(values[static_cast<std::size_t>(k * n + i)]);
    }
  return backward_error<T>(n, rights, a, b, columns);
}

// Matrices on which orthogonal factors are hard: of lower rank, with columns or rows of zeros,
// badly conditioned, very small and very large. Element (i, j) of the m x n matrix of kind number
// `kind`.
inline constexpr int qr_kinds = 34;
template <class T>
T qr_element(int kind, Int m, Int n, Int i, Int j) {
  using R = shardtype::linalg::kernels::real_t<T>;
  using Limits = std::numeric_limits<R>;
  T const random = drawn<T>(i * 100 + j, kind);
  auto const x = static_cast<double>(i), y = static_cast<double>(j);
  auto const real = [](double v) { return T(static_cast<R>(v)); };
  auto const times = [&](double v) { return T(random * static_cast<R>(v)); };
  bool const small = std::is_same_v<R, float>;
  double const step = small ? 0.5 : 2;
  auto const low = [&](Int rank) {
    T sum(0);
    for (Int k = 0; k < rank; ++k)
      sum += drawn<T>(i * 100 + k, kind) * drawn<T>(k * 100 + j, kind + 90);
    return sum;
  };
  switch (kind) {
    case 0:
      return T(0);
    case 1:
      return T(1);
    case 2:
      return real((x + 1) * (y + 2));
    case 3:
      return real(x + 3 * y + 1);
    case 4:
      return low((n + 1) / 2);
    case 5:
      return low(n - 1);
    case 6:
      return j == 0 ? T(0) : random;
    case 7:
      return j == n / 2 ? T(0) : random;
    case 8:
      return j == n - 1 ? T(0) : random;
    case 9:
      return j == n - 1 ? random : T(0);
    case 10:
      return drawn<T>(i * 100 + j / 2, kind);
    case 11:
      return drawn<T>(i * 100 + j % (n > 1 ? n - 1 : 1), kind);
    case 12:
      return real(1 / (x + y + 1));
    case 13:
      return real(std::pow(drawn<double>(i, kind), y));
    case 14:
      return times(std::pow(10, -step * x));
    case 15:
      return times(std::pow(10, -step * static_cast<double>(m - 1 - i)));
    case 16:
      return times(std::pow(10, -step * y));
    case 17:
      return times(std::pow(10, -step * static_cast<double>(n - 1 - j)));
    case 18:
      return times(small ? 1e37 : 1e300);
    case 19:
      return times(small ? 1e-36 : 1e-300);
    case 20:
      return T(static_cast<R>(std::round(1000 * drawn<double>(i * 100 + j, kind))) *
               Limits::denorm_min());
    case 21:
      return real(i == j ? 1 : 0);
    case 22:
      return real(i == j && 2 * j < n ? 1 : 0);
    case 23:
      return i < m / 2 ? T(0) : random;
    case 24:
      return i < m / 2 ? random : T(0);
    case 25:
      return i == 0 ? random : T(0);
    case 26:
      return i == m - 1 ? random : T(0);
    case 27:
      return real(i == m / 2 && j == n / 2 ? 3 : 0);
    case 28:
      return drawn<T>(i, kind) + times(small ? 1e-6 : 1e-14);
    case 29:
      return real((i > j ? 0 : i == j ? 1 : -0.6) * std::pow(0.8, x));
    case 30:
      return real((i ^ j) % 2 == 0 ? 1 : -1);
    case 31:
      return times(j % 2 == 0 ? (small ? 1e18 : 1e150) : (small ? 1e-18 : 1e-150));
    case 32:
      return times(static_cast<double>(Limits::max()) / static_cast<double>(4 * m));
    default:
      return random;
  }
}
// Whether q (m x n, row-major) is orthonormal, and a = q r, by Frobenius norms, to 10 max(m, n)
// roundings: the larger of both errors over that.
template <class T>
double qr_error(int kind, Int m, Int n, std::vector<T> const& q, std::vector<T> const& r) {
  namespace lk = shardtype::linalg::kernels;
  using R = lk::real_t<T>;
  using Wide = Kokkos::complex<long double>;
  auto const wide = [](T const& x) {
    if constexpr (lk::is_complex<T>) {
      return Wide(x.real(), x.imag());
    } else {
      return Wide(x);
    }
  };
  auto const at = [](auto const& all, Int k) { return all[static_cast<std::size_t>(k)]; };
  auto const square = [](Wide const& x) { return x.real() * x.real() + x.imag() * x.imag(); };
  Int const k = std::min(m, n);
  long double gram = 0, off = 0, size = 0;
  for (Int s = 0; s < k; ++s)
    for (Int t = 0; t < k; ++t) {
      Wide sum(s == t ? -1 : 0);
      for (Int i = 0; i < m; ++i)
        sum += wide(lk::conjugate(at(q, i * k + s))) * wide(at(q, i * k + t));
      gram += square(sum);
    }
  // scaled, so that squares are numbers in long double on all machines
  long double most = 0;
  for (Int i = 0; i < m; ++i)
    for (Int j = 0; j < n; ++j)
      most = std::max<long double>(most, lk::size_of(qr_element<T>(kind, m, n, i, j)));
  long double const unit = most > 0 ? most : 1;
  for (Int i = 0; i < m; ++i)
    for (Int j = 0; j < n; ++j) {
      Wide const given = wide(qr_element<T>(kind, m, n, i, j)) / unit;
      Wide sum = -given;
      for (Int s = 0; s < k; ++s) sum += wide(at(q, i * k + s)) * (wide(at(r, s * n + j)) / unit);
      off += square(sum);
      size += square(given);
    }
  long double const bound = 10.0L * static_cast<long double>(std::max(m, n)) *
                            static_cast<long double>(std::numeric_limits<R>::epsilon());
  // r itself is rounded to a multiple of the least number
  long double const least = std::sqrt(static_cast<long double>(m * n)) *
                            (static_cast<long double>(std::numeric_limits<R>::denorm_min()) / unit);
  long double const error =
      std::sqrt(off) / (bound * std::sqrt(size) + least + (size == 0 ? 1 : 0));
  return static_cast<double>(
      std::max(std::sqrt(gram) / bound, std::isnan(error) ? INFINITY : error));
}

// Matrices of several conditions.
enum Conditioned { drawn_entries, hilbert_entries, graded_entries, conditioned_kinds };
template <class T>
T conditioned(Int kind, Int i, Int j) {
  double const x = static_cast<double>(i), y = static_cast<double>(j);
  if (kind == hilbert_entries) return T(1 / (x + y + 1) + (i == j ? 1e-4 : 0));
  T const d = drawn<T>(i * 70 + j + 5000 * kind, 3);
  return kind == graded_entries ? T(d * std::pow(10., -x / 4)) : d;
}

// `check(mesh)` on grids of all ranks, in both orientations.
template <class X, class Y, class Check>
void on_grids(Check check) {
  for (auto const& sizes : on_ranks::grids())
    for (bool const turn : {false, true}) {
      INFO("on " << sizes[turn ? 1 : 0] << " x " << sizes[turn ? 0 : 1]);
      check(shardtype::Mesh<X, Y>(MPI_COMM_WORLD, {sizes[turn ? 1 : 0], sizes[turn ? 0 : 1]}));
    }
}

}  // namespace linear
