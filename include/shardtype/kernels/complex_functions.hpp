#pragma once
/// Functions of complex numbers for hosts and devices. Errors are at most some units in the last
/// place of the absolute value, also near zeros, poles and branch points and where parts of a
/// formula overflow or underflow; the signs of zeros choose the side of a branch cut; infinities
/// and NaN are those of annex G of the C standard. Kokkos' functions have none of this.

#include <cmath>
#include <limits>
#include <numbers>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/complex_division.hpp>
#include <shardtype/kernels/math.hpp>

namespace shardtype::kernels::of_complex {

using Kokkos::complex;

/// Bounds of float and double between which one formula is right.
template <class R>
struct Bounds {
  static constexpr bool is_float = sizeof(R) == 4;
  static constexpr R infinity = std::numeric_limits<R>::infinity();
  static constexpr R nan = std::numeric_limits<R>::quiet_NaN();
  static constexpr R half_pi = std::numbers::pi_v<R> / 2;
  static constexpr R ln2 = std::numbers::ln2_v<R>;
  /// e^x and e^-x are neither infinite nor less than all normal numbers.
  static constexpr R exponent = is_float ? R(80) : R(700);
  /// 1 - tanh(x) is less than half of an epsilon.
  static constexpr R saturated = is_float ? R(10) : R(20);
  /// 1 + 1 / z^2 is 1.
  static constexpr R large = is_float ? R(0x1p13) : R(0x1p28);
  /// Sizes that are scaled lest sums of squares lose digits or overflow.
  static constexpr R huge = std::numeric_limits<R>::max() / 8;
  static constexpr R tiny = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  static constexpr int steps = is_float ? 24 : 54;  ///< the root of the scale, as an exponent
  static constexpr R root_of_scale = is_float ? R(0x1p24) : R(0x1p54);
};

/// e^x or 2^x as the fourth power of a number that is neither infinite nor 0, for products with
/// sines and cosines.
template <class R>
struct FourthRoot {
  R root;
  KOKKOS_FUNCTION explicit FourthRoot(R x, bool of_two = false) {
    constexpr R bound = 4 * Bounds<R>::exponent;
    R const quarter = (x > bound ? bound : (x < -bound ? -bound : x)) / 4;
    root = of_two ? math::exp2(quarter) : math::exp(quarter);
  }
  KOKKOS_FUNCTION R times(R x, R factor = R(1)) const {
    return x * root * root * factor * root * root;
  }
};

/// e^z.
template <class R>
KOKKOS_FUNCTION complex<R> exp(complex<R> const& z) {
  R const x = z.real();
  R const y = z.imag();
  if (y == R(0)) return {math::exp(x), y};
  if (!detail::is_finite(y)) {
    if (!detail::is_infinite(x)) return {Bounds<R>::nan, Bounds<R>::nan};
    return x < R(0) ? complex<R>(R(0), detail::with_sign(R(0), y)) : complex<R>(x, Bounds<R>::nan);
  }
  R const cosine = math::cos(y);
  R const sine = math::sin(y);
  if (math::fabs(x) <= Bounds<R>::exponent) {
    R const size = math::exp(x);
    return {size * cosine, size * sine};
  }
  FourthRoot<R> const size(x);
  return {size.times(cosine), size.times(sine)};
}

/// 2^z. The angle is a product with the logarithm of 2 in two parts, because its error is that of
/// the result.
template <class R>
KOKKOS_FUNCTION complex<R> exp2(complex<R> const& z) {
  R const x = z.real();
  R const y = z.imag();
  constexpr R ln2 = Bounds<R>::ln2;
  constexpr R rest = Bounds<R>::is_float ? R(-1.904654299957768e-09) : R(2.3190468138462996e-17);
  if (y == R(0)) return {math::exp2(x), y};
  R const angle = y * ln2;
  if (!detail::is_finite(angle)) return of_complex::exp(complex<R>(x, y));
  R const error = std::fma(y, ln2, -angle) + y * rest;
  R const cosine = math::cos(angle);
  R const sine = math::sin(angle);
  R const cosine_of_error = math::cos(error);
  R const sine_of_error = math::sin(error);
  R const re = cosine * cosine_of_error - sine * sine_of_error;
  R const im = sine * cosine_of_error + cosine * sine_of_error;
  if (math::fabs(x) <= Bounds<R>::exponent) {
    R const size = math::exp2(x);
    return {size * re, size * im};
  }
  FourthRoot<R> const size(x, true);
  return {size.times(re), size.times(im)};
}

/// e^z - 1, by parts of which small ones keep their digits.
template <class R>
KOKKOS_FUNCTION complex<R> expm1(complex<R> const& z) {
  R const x = z.real();
  R const y = z.imag();
  if (y == R(0)) return {math::expm1(x), y};
  if (x > R(40) || !detail::is_finite(y)) {
    complex<R> const out = of_complex::exp(z);
    return {out.real() - R(1), out.imag()};
  }
  R const half = math::sin(y / 2);
  return {math::expm1(x) * math::cos(y) - 2 * half * half, math::exp(x) * math::sin(y)};
}

/// log |z|.
template <class R>
KOKKOS_FUNCTION R log_size(R x, R y) {
  using Of = Bounds<R>;
  R const a = math::fabs(x);
  R const b = math::fabs(y);
  R const larger = a > b ? a : b;
  R const smaller = a > b ? b : a;
  if (larger > Of::huge) return math::log(math::hypot(a / 2, b / 2)) + Of::ln2;
  if (larger < Of::tiny)
    return math::log(math::hypot(a * Of::root_of_scale, b * Of::root_of_scale)) -
           Of::steps * Of::ln2;
  R const size = math::hypot(a, b);
  if (!(size > R(0.7) && size < R(1.5))) return math::log(size);
  // |z|^2 - 1: the larger square is `square` and its rounding error. No product is there for a
  // compiler to fuse.
  R const square = std::fma(larger, larger, R(-1)) + R(1);
  R const error = std::fma(larger, larger, -square);
  return math::log1p(std::fma(smaller, smaller, square - R(1)) + error) / 2;
}

template <class R>
KOKKOS_FUNCTION complex<R> log(complex<R> const& z) {
  return {of_complex::log_size(z.real(), z.imag()), math::atan2(z.imag(), z.real())};
}

/// log(1 + z).
template <class R>
KOKKOS_FUNCTION complex<R> log1p(complex<R> const& z) {
  R const x = z.real();
  R const y = z.imag();
  R const beyond = x * (2 + x) + y * y;  // |1 + z|^2 - 1
  // 1 + x is exact below -1/2
  if (x < R(-0.5) || !(beyond >= R(-0.5) && beyond <= R(1)))
    return of_complex::log(complex<R>(1 + x, y));
  return {math::log1p(beyond) / 2, math::atan2(y, 1 + x)};
}

/// The root with a real part that is not negative.
template <class R>
KOKKOS_FUNCTION complex<R> sqrt(complex<R> const& z) {
  using Of = Bounds<R>;
  R x = z.real();
  R y = z.imag();
  if (detail::is_infinite(y)) return {Of::infinity, y};
  if (detail::is_infinite(x)) {
    R const other = y == y ? detail::with_sign(R(0), y) : y;
    return x > R(0) ? complex<R>(x, other)
                    : complex<R>(math::fabs(other), detail::with_sign(Of::infinity, y));
  }
  if (x == R(0) && y == R(0)) return {R(0), y};
  R const a = math::fabs(x);
  R const b = math::fabs(y);
  R const larger = a > b ? a : b;
  R back = 1;
  if (larger > Of::huge) {
    x /= 4;
    y /= 4;
    back = 2;
  } else if (larger < Of::tiny) {
    x *= Of::root_of_scale * Of::root_of_scale;
    y *= Of::root_of_scale * Of::root_of_scale;
    back = 1 / Of::root_of_scale;
  }
  R const root = math::sqrt((math::fabs(x) + math::hypot(x, y)) / 2);
  R const other = math::fabs(y) / (2 * root);
  return x >= R(0) ? complex<R>(root * back, detail::with_sign(other * back, y))
                   : complex<R>(other * back, detail::with_sign(root * back, y));
}

/// 1 / sqrt(z).
template <class R>
KOKKOS_FUNCTION complex<R> rsqrt(complex<R> const& z) {
  return kernels::quotient(complex<R>(R(1)), of_complex::sqrt(z));
}

template <class R>
KOKKOS_FUNCTION complex<R> sinh(complex<R> const& z) {
  R const x = z.real();
  R const y = z.imag();
  if (y == R(0)) return {math::sinh(x), y};
  if (!detail::is_finite(y)) {
    if (x == R(0)) return {x, Bounds<R>::nan};
    return {detail::is_infinite(x) ? Bounds<R>::infinity : Bounds<R>::nan, Bounds<R>::nan};
  }
  R const cosine = math::cos(y);
  R const sine = math::sin(y);
  if (math::fabs(x) <= Bounds<R>::exponent) return {math::sinh(x) * cosine, math::cosh(x) * sine};
  FourthRoot<R> const size(math::fabs(x));
  return {size.times(detail::with_sign(R(1), x) * cosine, R(0.5)), size.times(sine, R(0.5))};
}

template <class R>
KOKKOS_FUNCTION complex<R> cosh(complex<R> const& z) {
  R const x = z.real();
  R const y = z.imag();
  if (y == R(0)) return {math::cosh(x), x == x && detail::negative(x) ? -y : y};
  if (!detail::is_finite(y)) {
    if (x == R(0)) return {Bounds<R>::nan, R(0)};
    return {detail::is_infinite(x) ? Bounds<R>::infinity : Bounds<R>::nan, Bounds<R>::nan};
  }
  R const cosine = math::cos(y);
  R const sine = math::sin(y);
  if (math::fabs(x) <= Bounds<R>::exponent) return {math::cosh(x) * cosine, math::sinh(x) * sine};
  FourthRoot<R> const size(math::fabs(x));
  return {size.times(cosine, R(0.5)), size.times(detail::with_sign(R(1), x) * sine, R(0.5))};
}

template <class R>
KOKKOS_FUNCTION complex<R> tanh(complex<R> const& z) {
  R const x = z.real();
  R const y = z.imag();
  if (y == R(0)) return {math::tanh(x), y};
  if (!detail::is_finite(y)) {
    if (detail::is_infinite(x)) return {detail::with_sign(R(1), x), detail::with_sign(R(0), y)};
    return {x == R(0) ? x : Bounds<R>::nan, Bounds<R>::nan};
  }
  R const cosine = math::cos(y);
  R const sine = math::sin(y);
  if (math::fabs(x) > Bounds<R>::saturated)
    return {detail::with_sign(R(1), x), 4 * sine * cosine * math::exp(-2 * math::fabs(x))};
  R const sinh_x = math::sinh(x);
  R const size = sinh_x * sinh_x + cosine * cosine;
  return {sinh_x * math::cosh(x) / size, sine * cosine / size};
}

// sin, cos and tan of z are hyperbolic functions of iz

template <class R>
KOKKOS_FUNCTION complex<R> sin(complex<R> const& z) {
  if (detail::is_infinite(z.imag()) && !detail::is_finite(z.real()))
    return {Bounds<R>::nan, Bounds<R>::infinity};
  complex<R> const out = of_complex::sinh(complex<R>(-z.imag(), z.real()));
  return {out.imag(), -out.real()};
}
template <class R>
KOKKOS_FUNCTION complex<R> cos(complex<R> const& z) {
  return of_complex::cosh(complex<R>(-z.imag(), z.real()));
}
template <class R>
KOKKOS_FUNCTION complex<R> tan(complex<R> const& z) {
  complex<R> const out = of_complex::tanh(complex<R>(-z.imag(), z.real()));
  return {out.imag(), -out.real()};
}

/// sqrt(1 - z) and sqrt(1 + z), from which W. Kahan computes the inverse functions in "Branch cuts
/// for complex elementary functions" (1987). Sums of their products are of terms with the same
/// sign.
template <class R>
struct RootsAroundOne {
  complex<R> below, above;
  KOKKOS_FUNCTION RootsAroundOne(R x, R y)
      : below(of_complex::sqrt(complex<R>(1 - x, -y))),
        above(of_complex::sqrt(complex<R>(1 + x, y))) {}
};
/// Whether asin and acos are log |2z| and an angle.
template <class R>
KOKKOS_FUNCTION bool is_large(R x, R y) {
  return math::fabs(x) > Bounds<R>::large || math::fabs(y) > Bounds<R>::large;
}

template <class R>
KOKKOS_FUNCTION complex<R> asin(complex<R> const& z) {
  R const x = z.real();
  R const y = z.imag();
  if (x == R(0) && y != y) return z;
  if (of_complex::is_large(x, y))
    return {math::atan2(x, math::fabs(y)),
            detail::with_sign(of_complex::log_size(x, y) + Bounds<R>::ln2, y)};
  RootsAroundOne<R> const roots(x, y);
  auto const& [p, q] = roots;
  return {math::atan2(x, p.real() * q.real() - p.imag() * q.imag()),
          math::asinh(p.real() * q.imag() - p.imag() * q.real())};
}

template <class R>
KOKKOS_FUNCTION complex<R> acos(complex<R> const& z) {
  R const x = z.real();
  R const y = z.imag();
  if (x == R(0) && y != y) return {Bounds<R>::half_pi, y};
  if (of_complex::is_large(x, y))
    return {math::atan2(math::fabs(y), x),
            detail::with_sign(of_complex::log_size(x, y) + Bounds<R>::ln2, -y)};
  RootsAroundOne<R> const roots(x, y);
  auto const& [p, q] = roots;
  return {2 * math::atan2(p.real(), q.real()),
          math::asinh(q.real() * p.imag() - q.imag() * p.real())};
}

template <class R>
KOKKOS_FUNCTION complex<R> atanh(complex<R> const& z) {
  R const x = z.real();
  R const y = z.imag();
  R const a = math::fabs(x);
  if (detail::is_infinite(x) || detail::is_infinite(y))
    return {detail::with_sign(R(0), x), y == y ? detail::with_sign(Bounds<R>::half_pi, y) : y};
  if (x == R(0) && y != y) return z;
  if (of_complex::is_large(x, y)) {
    if (x != x || y != y) return {Bounds<R>::nan, Bounds<R>::nan};
    complex<R> const inverse = kernels::quotient(complex<R>(R(1)), z);
    return {detail::with_sign(math::fabs(inverse.real()), x),
            detail::with_sign(Bounds<R>::half_pi, y) + inverse.imag()};
  }
  // a = 1 and a tiny y leave no square to divide by
  R const size = (1 - a) * (1 - a) + y * y;
  R const re = size < Bounds<R>::tiny ? (Bounds<R>::ln2 - math::log(math::fabs(y))) / 2
                                      : math::log1p(4 * a / size) / 4;
  return {detail::with_sign(re, x), math::atan2(2 * y, (1 - a) * (1 + a) - y * y) / 2};
}
template <class R>
KOKKOS_FUNCTION complex<R> atan(complex<R> const& z) {
  complex<R> const out = of_complex::atanh(complex<R>(-z.imag(), z.real()));
  return {out.imag(), -out.real()};
}

/// a^n for small n; of what overflows or underflows on the way it says nothing.
template <class R>
KOKKOS_FUNCTION complex<R> small_power(complex<R> const& a, int n) {
  complex<R> const square = a * a;
  complex<R> out = (n & 1) != 0 ? a : complex<R>(R(1));
  if ((n & 2) != 0) out = out * square;
  if ((n & 4) != 0) out = out * (square * square);
  return out;
}

/// a^b = e^(b log a); 1 for b = 0, also of NaN, as for real numbers. Small whole powers are
/// products.
template <class R>
KOKKOS_FUNCTION complex<R> power(complex<R> const& a, complex<R> const& b) {
  using Of = Bounds<R>;
  R const x = b.real();
  R const y = b.imag();
  if (x == R(0) && y == R(0)) return {R(1), R(0)};
  if (a.real() == R(0) && a.imag() == R(0)) {
    if (x > R(0)) return {R(0), R(0)};
    return {x < R(0) ? Of::infinity : Of::nan, Of::nan};
  }
  if (y == R(0)) {
    if (x == R(1)) return a;
    if (a.imag() == R(0) && a.real() > R(0))
      return {math::pow(a.real(), x), detail::negative(x) ? -a.imag() : a.imag()};
    if (math::fabs(x) < R(8) && math::nearbyint(x) == x) {
      complex<R> const whole = of_complex::small_power(a, static_cast<int>(math::fabs(x)));
      R const size = math::fabs(whole.real()) + math::fabs(whole.imag());
      if (size < Of::huge && size > Of::tiny)
        return x > R(0) ? whole : kernels::quotient(complex<R>(R(1)), whole);
    }
  }
  complex<R> const of_a = of_complex::log(a);
  if (y == R(0)) return of_complex::exp(complex<R>(x * of_a.real(), x * of_a.imag()));
  return of_complex::exp(
      complex<R>(x * of_a.real() - y * of_a.imag(), x * of_a.imag() + y * of_a.real()));
}

/// On the host of single precision in double.
template <class R>
KOKKOS_FUNCTION complex<R> pow(complex<R> const& a, complex<R> const& b) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  return of_complex::power(a, b);
#else
  complex<double> const out = of_complex::power(complex<double>(a), complex<double>(b));
  return {static_cast<R>(out.real()), static_cast<R>(out.imag())};
#endif
}

}  // namespace shardtype::kernels::of_complex
