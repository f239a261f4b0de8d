#pragma once
/// Distributions as functors: element n of a tensor is `distribution(n)`, a pure function of the
/// key, the parameters and n, independent of the sharding. They use only integer arithmetic and
/// fma, and log and sqrt in a normal's tails, so blocking and vectorisation cannot change a bit.

#include <cmath>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/check/functions.hpp>
#include <shardtype/random/key.hpp>
#include <shardtype/random/quantile.hpp>

namespace shardtype::random {

/// A multiple of 2^-24 (float) or 2^-53 (double) in [0, 1), all equally likely, from the upper bits.
template <class T>
KOKKOS_INLINE_FUNCTION T unit(std::uint64_t bits) {
  if constexpr (sizeof(T) == 4) {
    return static_cast<float>(bits >> 40) * 0x1p-24F;
  } else {
    return static_cast<double>(bits >> 11) * 0x1p-53;
  }
}

/// An odd multiple of 2^-53 in (0, 1): never 0 or 1, and 1 minus it is exact.
KOKKOS_INLINE_FUNCTION double inner_unit(std::uint64_t bits) {
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

/// A standard normal number by inversion: 52 bits determine the size, one the sign. Symmetric; the
/// largest size is 8.3.
KOKKOS_INLINE_FUNCTION double standard_normal(std::uint64_t bits) {
  double const x = normal_quantile(0.5 * inner_unit(bits));
  return (bits & 1U) != 0U ? x : -x;
}

/// low + (high - low) u, in [low, high). For bfloat16 computed in float and rounded.
template <class T>
struct Uniform {
  using Value = shardtype::detail::computed_t<T>;
  std::uint64_t key;
  Value low, range;
  T high, below_high;

  KOKKOS_FUNCTION T operator()(std::int64_t n) const {
    T const x(std::fma(range, unit<Value>(draw(key, static_cast<std::uint64_t>(n)).a), low));
    return x < high ? x : below_high;
  }
};

/// mean + deviation z, computed in double.
template <class T>
struct Normal {
  std::uint64_t key;
  double mean, deviation;

  KOKKOS_FUNCTION T operator()(std::int64_t n) const {
    double const z = standard_normal(draw(key, static_cast<std::uint64_t>(n)).a);
    return static_cast<T>(std::fma(deviation, z, mean));
  }
};

/// Real and imaginary part are independent, each with this deviation.
template <class T>
struct Normal<Kokkos::complex<T>> {
  std::uint64_t key;
  double mean_real, mean_imag, deviation;

  KOKKOS_FUNCTION Kokkos::complex<T> operator()(std::int64_t n) const {
    Bits const bits = draw(key, static_cast<std::uint64_t>(n));
    return {static_cast<T>(std::fma(deviation, standard_normal(bits.a), mean_real)),
            static_cast<T>(std::fma(deviation, standard_normal(bits.b), mean_imag))};
  }
};

/// A standard normal number given that it lies in [low, high], by inversion from the nearer tail.
template <class T>
struct TruncatedNormal {
  std::uint64_t key;
  T low, high;
  double below_low, above_high, inside;  // probabilities

  KOKKOS_FUNCTION T operator()(std::int64_t n) const {
    double const u = inner_unit(draw(key, static_cast<std::uint64_t>(n)).a);
    double const p = std::fma(inside, u, below_low);
    double const q = std::fma(inside, 1.0 - u, above_high);
    T const x = static_cast<T>(p < q ? normal_quantile(p) : -normal_quantile(q));
    return x < low ? low : x > high ? high : x;
  }
};

/// 1 where 53 random bits are below `threshold`, else 0.
template <class T>
struct Bernoulli {
  std::uint64_t key;
  std::uint64_t threshold;  // 2^53 times the probability

  KOKKOS_FUNCTION T operator()(std::int64_t n) const {
    return static_cast<T>(draw(key, static_cast<std::uint64_t>(n)).a >> 11 < threshold);
  }
};

/// low + (64 random bits mod span); the `rejected` lowest bit patterns, which would favour small
/// numbers, are drawn again: exactly unbiased.
template <class T>
struct Integers {
  std::uint64_t key;
  std::uint64_t low, span, rejected;

  KOKKOS_FUNCTION T operator()(std::int64_t n) const {
    for (std::uint32_t attempt = 0;; ++attempt) {
      Bits const bits = draw(key, static_cast<std::uint64_t>(n), attempt);
      if (bits.a >= rejected) return from(bits.a);
      if (bits.b >= rejected) return from(bits.b);
    }
  }
  KOKKOS_FUNCTION T from(std::uint64_t bits) const {
    return static_cast<T>(static_cast<std::int64_t>(low + bits % span));
  }
};

}  // namespace shardtype::random
