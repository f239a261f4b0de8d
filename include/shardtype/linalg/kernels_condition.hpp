#pragma once
/// The 1-norm of an inverse, estimated from a few solutions (Hager, "Condition estimates", 1984;
/// Higham, "FORTRAN codes for estimating the one-norm of a real or complex matrix, with
/// applications to condition estimation", 1988; LAPACK's xLACN2).

#include <cmath>
#include <cstdint>

#include <shardtype/linalg/kernels_own.hpp>
#include <shardtype/linalg/types_condition.hpp>

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

}  // namespace shardtype::linalg::kernels
