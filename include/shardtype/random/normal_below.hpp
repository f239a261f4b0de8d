#pragma once
/// The distribution function of the normal distribution, for the ends of intervals.

#include <cmath>
#include <numbers>

#include <Kokkos_Core.hpp>

namespace shardtype::random {

namespace detail {

/// e^y for y from -745 to 0, with the operations that quantile.hpp names.
KOKKOS_INLINE_FUNCTION double exponential(double y) {
  double const k = std::fma(y, std::numbers::log2e, 0x1.8p52) - 0x1.8p52;  // the nearest integer
  double const r = std::fma(-k, 0x1.abc9e3b39803fp-56, std::fma(-k, std::numbers::ln2, y));
  double sum = 1.0;
  for (int n = 14; n >= 1; --n) sum = std::fma(sum, r / n, 1.0);
  return std::ldexp(sum, static_cast<int>(k));
}
/// e^(-x^2/2) / sqrt(2 pi).
inline double normal_density(double x) {
  double const square = x * x;
  double const rest = std::fma(x, x, -square);
  return 0.39894228040143267794 * (exponential(-0.5 * square) * (1.0 - 0.5 * rest));
}

}  // namespace detail

/// The probability that a standard normal variable is below x; relative error at most 1e-14 in the
/// lower tail, down to x = -38. For |x| < 1 by the series around 0, else by the continued fraction
/// of the tail.
inline double normal_below(double x) {
  if (x != x) return x;
  double const size = std::fabs(x);
  if (size < 1.0) {
    double const square = x * x;
    double sum = 1.0;
    for (int n = 41; n >= 3; n -= 2) sum = std::fma(sum, square / n, 1.0);
    return std::fma(x * sum, detail::normal_density(x), 0.5);
  }
  if (size > 38.0) return x < 0 ? 0.0 : 1.0;
  double fraction = size;
  for (int n = 400; n >= 1; --n) fraction = size + n / fraction;
  double const beyond = detail::normal_density(size) / fraction;
  return x < 0 ? beyond : 1.0 - beyond;
}

}  // namespace shardtype::random
