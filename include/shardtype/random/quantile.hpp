#pragma once
/// The quantiles of the normal distribution, from integer arithmetic, fma, division and square
/// roots alone: each is rounded in one way by every processor, and no product is followed by a sum
/// that is not an fma, so that compilers cannot change a bit.

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/generate.hpp>

namespace shardtype::random {

namespace detail {

/// first x^n + ... + last, where `n` coefficients follow the first.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T polynomial(T, T last) {
  return last;
}
template <class T, class... Ts>
KOKKOS_FORCEINLINE_FUNCTION T polynomial(T x, T first, T second, Ts... others) {
  return detail::polynomial(x, std::fma(first, x, second), others...);
}

/// -log(p), for positive p. Of p = m 2^e with m from sqrt(1/2) to sqrt(2), log(m) is twice the
/// series of the inverse hyperbolic tangent of (m - 1) / (m + 1).
KOKKOS_FORCEINLINE_FUNCTION double minus_log(double p) {
  bool const tiny = p < 0x1p-1000;  // subnormal numbers are scaled up
  auto const bits = std::bit_cast<std::uint64_t>(tiny ? p * 0x1p60 : p);
  std::uint64_t const apart = bits - 0x3fe6a09e667f3bcdU;
  std::int64_t const exponent = (static_cast<std::int64_t>(apart) >> 52) - (tiny ? 60 : 0);
  double const m = std::bit_cast<double>(bits - (apart & 0xfff0000000000000U));
  // the exponent as a number, by integer arithmetic: not all processors convert 64 bits in vectors
  double const e =
      std::bit_cast<double>(static_cast<std::uint64_t>(exponent) + 0x4338000000000000U) - 0x1.8p52;
  double const f = m - 1.0;
  double const s = f / (2.0 + f);
  double const z = s * s;
  double const y = polynomial(z, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                              1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3);
  double const twice = 2.0 * s;
  double const log_m = std::fma(twice * z, y, twice);
  return -std::fma(e, std::numbers::ln2, std::fma(e, 0x1.abc9e3b39803fp-56, log_m));
}
/// For normal numbers of float.
KOKKOS_FORCEINLINE_FUNCTION float minus_log(float p) {
  auto const bits = std::bit_cast<std::uint32_t>(p);
  std::uint32_t const apart = bits - 0x3f3504f3U;
  auto const e = static_cast<float>(static_cast<std::int32_t>(apart) >> 23);
  float const f = std::bit_cast<float>(bits - (apart & 0xff800000U)) - 1.0F;
  float const s = f / (2.0F + f);
  float const z = s * s;
  float const y = polynomial(z, 1.0F / 9, 1.0F / 7, 1.0F / 5, 1.0F / 3);
  float const twice = 2.0F * s;
  float const log_m = std::fma(twice * z, y, twice);
  return -std::fma(e, std::numbers::ln2_v<float>, std::fma(e, -0x1.05c61p-29F, log_m));
}

/// The square root of a positive number. In clang, loops with std::sqrt, which may set errno, do
/// not vectorise.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T root(T x) {
#if defined(__clang__) && !defined(__CUDACC__) && !defined(__HIPCC__)
  return __builtin_elementwise_sqrt(x);
#else
  return std::sqrt(x);
#endif
}

// Source of the rational functions: Wichura, algorithm AS 241 (PPND16 and PPND7), Applied
// Statistics 37 (1988).

/// Probabilities below it are in the tail.
inline constexpr double tail = 0.075;
/// Where the tail has another function: from this root of minus the logarithm on.
template <class T>
inline constexpr T far = T(5);

/// The normal number that is exceeded with probability 0.5 - q, for |q| up to 0.5 - `tail`.
KOKKOS_FORCEINLINE_FUNCTION double central_size(double q) {
  double const r = std::fma(-q, q, 0.180625);
  return q *
         (polynomial(r, 2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4,
                     4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3,
                     1.3314166789178437745e2, 3.3871328727963666080e0) /
          polynomial(r, 5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4,
                     2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2,
                     4.2313330701600911252e1, 1.0));
}
KOKKOS_FORCEINLINE_FUNCTION float central_size(float q) {
  float const r = std::fma(-q, q, 0.180625F);
  return q * (polynomial(r, 5.9109374720e1F, 1.5929113202e2F, 5.0434271938e1F, 3.3871327179e0F) /
              polynomial(r, 6.7187563600e1F, 7.8757757664e1F, 1.7895169469e1F, 1.0F));
}
/// That is exceeded with a smaller probability, by the root r of minus its logarithm, up to `far`.
KOKKOS_FORCEINLINE_FUNCTION double tail_size(double r) {
  double const x = r - 1.6;
  return polynomial(x, 7.74545014278341407640e-4, 2.27238449892691845833e-2,
                    2.41780725177450611770e-1, 1.27045825245236838258e0, 3.64784832476320460504e0,
                    5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0) /
         polynomial(x, 1.05075007164441684324e-9, 5.47593808499534494600e-4,
                    1.51986665636164571966e-2, 1.48103976427480074590e-1, 6.89767334985100004550e-1,
                    1.67638483018380384940e0, 2.05319162663775882187e0, 1.0);
}
KOKKOS_FORCEINLINE_FUNCTION float tail_size(float r) {
  float const x = r - 1.6F;
  return polynomial(x, 1.7023821103e-1F, 1.3067284816e0F, 2.7568153900e0F, 1.4234372777e0F) /
         polynomial(x, 1.2021132975e-1F, 7.3700164250e-1F, 1.0F);
}
/// And beyond.
KOKKOS_FORCEINLINE_FUNCTION double far_size(double r) {
  double const x = r - 5.0;
  return polynomial(x, 2.01033439929228813265e-7, 2.71155556874348757815e-5,
                    1.24266094738807843860e-3, 2.65321895265761230930e-2, 2.96560571828504891230e-1,
                    1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0) /
         polynomial(x, 2.04426310338993978564e-15, 1.42151175831644588870e-7,
                    1.84631831751005468180e-5, 7.86869131145613259100e-4, 1.48753612908506148525e-2,
                    1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0);
}
KOKKOS_FORCEINLINE_FUNCTION float far_size(float r) {
  float const x = r - 5.0F;
  return polynomial(x, 1.7337203997e-2F, 4.2868294337e-1F, 3.0812263860e0F, 6.6579051150e0F) /
         polynomial(x, 1.2258202635e-2F, 2.4197894225e-1F, 1.0F);
}

}  // namespace detail

/// The number that a standard normal variable exceeds with probability p, 0 < p <= 1 - `tail`. Its
/// relative error is about 1e-16 in double; computed in float, where p is at least 1e-37, at most
/// 1e-6.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T normal_size(double p) {
  if (!(p < detail::tail)) return detail::central_size(static_cast<T>(0.5 - p));
  T const r = detail::root(detail::minus_log(static_cast<T>(p)));
  return r > detail::far<T> ? detail::far_size(r) : detail::tail_size(r);
}
/// The x below which a standard normal variable is with probability p, for 0 < p < 1.
KOKKOS_FORCEINLINE_FUNCTION double normal_quantile(double p) {
  return p > 0.5 ? normal_size<double>(1.0 - p) : -normal_size<double>(p);
}

/// Numbers that are computed together.
inline constexpr int numbers_per_block = kernels::generated_together;

/// x[k] = normal_size(p[k]) for `n` numbers, at most `numbers_per_block`, in loops that compilers
/// vectorise: the tails are collected first. `x` may be `p`.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void normal_sizes(int n, T* x, double* p) {
  int at[numbers_per_block];
  T size[numbers_per_block];
  int tails = 0;
  for (int k = 0; k < n; ++k) {
    at[tails] = k;
    size[tails] = static_cast<T>(p[k]);
    tails += p[k] < detail::tail ? 1 : 0;
  }
  for (int k = 0; k < n; ++k) x[k] = detail::central_size(static_cast<T>(0.5 - p[k]));
  T r[numbers_per_block];
  for (int k = 0; k < tails; ++k) r[k] = detail::minus_log(size[k]);
  for (int k = 0; k < tails; ++k) r[k] = detail::root(r[k]);
  for (int k = 0; k < tails; ++k) size[k] = detail::tail_size(r[k]);
  for (int k = 0; k < tails; ++k)
    if (r[k] > detail::far<T>) size[k] = detail::far_size(r[k]);
  for (int k = 0; k < tails; ++k) x[at[k]] = size[k];
}

}  // namespace shardtype::random
