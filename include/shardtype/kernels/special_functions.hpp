#pragma once
/// Special functions that Kokkos does not have, for one element. They are computed in double.

#include <cmath>
#include <limits>
#include <numbers>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/math.hpp>

namespace shardtype::kernels::special {

/// The inverse of erf: Winitzki's approximation (2008), then Halley's steps, of erf where the
/// result is small and of erfc where erf is near 1, so that no digits are lost. NaN beyond -1
/// and 1.
KOKKOS_FUNCTION inline double erfinv(double x) {
  double const size = math::fabs(x);
  if (!(size < 1)) {
    return size == 1 ? x * std::numeric_limits<double>::infinity()
                     : std::numeric_limits<double>::quiet_NaN();
  }
  if (size < 0x1p-30) return x / (2 * std::numbers::inv_sqrtpi);  // its own number if it is 0
  constexpr double a = 0.147;
  double const log = math::log1p(-size * size);
  double const half = 2 / (std::numbers::pi * a) + log / 2;
  double y = math::sqrt(math::sqrt(half * half - log / a) - half);
  for (int step = 0; step < 2; ++step) {
    double const apart = size < 0.5 ? math::erf(y) - size : (1 - size) - math::erfc(y);
    double const newton = apart / (2 * std::numbers::inv_sqrtpi * math::exp(-y * y));
    y -= newton / (1 + y * newton);
  }
  return detail::with_sign(y, x);
}

/// The derivative of lgamma: by its recurrence from 10 on, where the asymptotic series has all
/// digits; of negative numbers by reflection. NaN at negative integers, infinite at 0, as SciPy.
KOKKOS_FUNCTION inline double digamma(double x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (x == 0) return detail::with_sign(infinity, -x);
  if (x == infinity) return x;
  double out = 0;
  if (x < 0) {
    double const beyond = x - math::nearbyint(x);
    if (beyond == 0 || x == -infinity) return std::numeric_limits<double>::quiet_NaN();
    out = -std::numbers::pi / math::tan(std::numbers::pi * beyond);
    x = 1 - x;
  }
  for (; x < 10; x += 1) out -= 1 / x;
  double const z = 1 / (x * x);
  double const series =
      z * (1. / 12 -
           z * (1. / 120 -
                z * (1. / 252 - z * (1. / 240 - z * (1. / 132 - z * (691. / 32760 - z / 12))))));
  return out + (math::log(x) - 1 / (2 * x) - series);
}

/// The derivative of digamma, likewise.
KOKKOS_FUNCTION inline double trigamma(double x) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (x == 0) return infinity;
  if (x < 0) {
    double const beyond = x - math::nearbyint(x);
    if (beyond == 0) return infinity;
    if (x == -infinity) return std::numeric_limits<double>::quiet_NaN();
    double const sine = math::sin(std::numbers::pi * beyond);
    return std::numbers::pi * std::numbers::pi / (sine * sine) - special::trigamma(1 - x);
  }
  double out = 0;
  for (; x < 10; x += 1) out += 1 / (x * x);
  double const z = 1 / (x * x);
  double const series =
      z / x *
      (1. / 6 -
       z * (1. / 30 -
            z * (1. / 42 - z * (1. / 30 - z * (5. / 66 - z * (691. / 2730 - z * (7. / 6)))))));
  return out + (1 / x + z / 2 + series);
}

}  // namespace shardtype::kernels::special
