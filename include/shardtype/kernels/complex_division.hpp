#pragma once
/// Quotients of complex numbers that neither overflow nor underflow on the way.

#include <cstdint>
#include <limits>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/math.hpp>
#include <shardtype/kernels/rounded.hpp>

namespace shardtype::kernels {

namespace detail {

/// x 2^e for any e; what is smaller than all normal numbers is rounded once.
KOKKOS_FUNCTION inline double times_two_to(double x, std::int64_t e) {
  std::int64_t const first = e > 1000 ? 1000 : (e < -1000 ? -1000 : e);
  std::int64_t const rest = e - first;
  return x * power_of_two(first) * power_of_two(rest > 1000 ? 1000 : rest);
}
/// The exponent of the larger of two sizes; 0 where there is nothing to scale.
KOKKOS_FUNCTION inline std::int64_t common_exponent(double a, double b) {
  double const size = a > b ? a : b;
  return size == 0 || !is_finite(a) || !is_finite(b) ? 0 : binary_exponent(size);
}
/// 1 of an infinity, else 0, with the sign of `x`.
KOKKOS_FUNCTION inline double whether_infinite(double x) {
  return with_sign(is_infinite(x) ? 1.0 : 0.0, x);
}
KOKKOS_FUNCTION inline double infinite_or_zero(double x) {
  return is_infinite(x) || x != x ? x : with_sign(0.0, x);
}

/// (a + bi) / (c + di) as R. L. Smith's "Algorithm 116: Complex division" (1962), for which the
/// larger part of the divisor comes first.
template <class R>
struct Quotient {
  R re, im;
  KOKKOS_FUNCTION Quotient(R a, R b, R c, R d) {
    bool const turns = math::fabs(c) < math::fabs(d);  // both times -i
    R const first = turns ? b : a;
    R const second = turns ? -a : b;
    R const larger = turns ? d : c;
    R const smaller = turns ? -c : d;
    R const ratio = smaller / larger;
    R const rest = smaller * ratio;
    R const of_second = second * ratio;
    R const of_first = first * ratio;
    R const divisor = larger + SHARDTYPE_ROUNDED(rest);
    re = (first + SHARDTYPE_ROUNDED(of_second)) / divisor;
    im = (second - SHARDTYPE_ROUNDED(of_first)) / divisor;
  }
};

/// (a + bi) / (c + di) for any numbers: both are scaled to about 1 first. A quotient that is NaN in
/// both parts, though an operand is infinite or the divisor 0, becomes the infinity or zero that
/// annex G of the C standard wants.
[[gnu::noinline]] KOKKOS_FUNCTION inline Kokkos::complex<double> scaled_quotient(double a, double b,
                                                                                 double c,
                                                                                 double d) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if ((is_infinite(a) || is_infinite(b)) && is_finite(c) && is_finite(d) && (c != 0 || d != 0)) {
    double const re = infinite_or_zero(a) * c + infinite_or_zero(b) * d;
    double const im = infinite_or_zero(b) * c - infinite_or_zero(a) * d;
    if (re == re || im == im) return {re, im};
    a = whether_infinite(a);
    b = whether_infinite(b);
    return {infinity * (a * c + b * d), infinity * (b * c - a * d)};
  }
  bool const infinite = is_infinite(c) || is_infinite(d);
  std::int64_t const above = infinite ? 0 : common_exponent(math::fabs(a), math::fabs(b));
  std::int64_t const below = common_exponent(math::fabs(c), math::fabs(d));
  c = times_two_to(c, -below);
  d = times_two_to(d, -below);
  Quotient<double> const q(times_two_to(a, -above), times_two_to(b, -above), c, d);
  if (q.re == q.re || q.im == q.im)
    return {times_two_to(q.re, above - below), times_two_to(q.im, above - below)};
  if (c == 0 && d == 0 && (a == a || b == b))
    return {with_sign(infinity, c) * a, with_sign(infinity, c) * b};
  if (infinite && is_finite(a) && is_finite(b)) {
    c = whether_infinite(c) * 0.25;  // lest sums overflow of which only the signs matter
    d = whether_infinite(d) * 0.25;
    return {0.0 * (a * c + b * d), 0.0 * (b * c - a * d)};
  }
  return {q.re, q.im};
}

}  // namespace detail

/// a / b, with an error of at most 3 epsilons of its absolute value; infinities and zeros as in
/// annex G of the C standard. Kokkos' operator gives NaN or 0 for large and small divisors.
template <class R>
KOKKOS_FUNCTION Kokkos::complex<R> quotient(Kokkos::complex<R> const& a,
                                            Kokkos::complex<R> const& b) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  using Wide = R;
#else
  using Wide = double;  // in which nothing of floats overflows or underflows
#endif
  auto const re = static_cast<Wide>(a.real());
  auto const im = static_cast<Wide>(a.imag());
  auto const c = static_cast<Wide>(b.real());
  auto const d = static_cast<Wide>(b.imag());
  bool safe = true;
  if constexpr (std::is_same_v<R, Wide>) {
    constexpr auto large = static_cast<Wide>(sizeof(Wide) == 4 ? 0x1p50 : 0x1p400);
    Wide const above = math::fabs(re) + math::fabs(im);
    Wide const below = math::fabs(c) + math::fabs(d);
    safe = above < large && (above > 1 / large || above == 0) && below < large && below > 1 / large;
  }
  if (safe) {
    detail::Quotient<Wide> const q(re, im, c, d);
    if (std::is_same_v<R, Wide> || q.re == q.re || q.im == q.im)
      return {static_cast<R>(q.re), static_cast<R>(q.im)};
  }
  auto const q = detail::scaled_quotient(static_cast<double>(re), static_cast<double>(im),
                                         static_cast<double>(c), static_cast<double>(d));
  return {static_cast<R>(q.real()), static_cast<R>(q.imag())};
}

}  // namespace shardtype::kernels
