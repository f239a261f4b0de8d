#pragma once
/// Distributions as functors: element n of a tensor is `distribution(n)`, a pure function of the
/// key, the parameters and n, independent of the sharding. They use only integer arithmetic, fma,
/// divisions and square roots, so blocking and vectorisation cannot change a bit. On the host
/// some are computed by `block(n, out, at)`, which writes the elements at the positions `at`.

#include <bit>
#include <cmath>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <shardtype/check/functions.hpp>
#include <shardtype/random/key.hpp>
#include <shardtype/random/quantile.hpp>

namespace shardtype::random {

/// A multiple of 2^-24 (float) or 2^-53 (double) in [0, 1), all equally likely, from the upper
/// bits.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T unit(std::uint64_t bits) {
  if constexpr (sizeof(T) == 4) {
    return static_cast<float>(bits >> 40) * 0x1p-24F;
  } else {
    return static_cast<double>(bits >> 11) * 0x1p-53;
  }
}

/// An odd multiple of 2^-53 in (0, 1): never 0 or 1, and 1 minus it is exact. The integer becomes a
/// number by integer arithmetic, because not all processors convert 64 bits in vectors.
KOKKOS_FORCEINLINE_FUNCTION double inner_unit(std::uint64_t bits) {
  double const number = std::bit_cast<double>(bits >> 12 | 0x4330000000000000U) - 0x1p52;
  return (number + 0.5) * 0x1p-52;
}

/// `size` with the sign that the lowest bit determines.
KOKKOS_FORCEINLINE_FUNCTION double with_sign(double size, std::uint64_t bits) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) ^ bits << 63);
}
KOKKOS_FORCEINLINE_FUNCTION float with_sign(float size, std::uint64_t bits) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(size) ^ static_cast<std::uint32_t>(bits)
                                                                       << 31);
}

/// A standard normal number by inversion: 52 bits determine the size, one the sign. Symmetric; the
/// largest size is 8.3. Float and double are computed from the same bits, but each by itself.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T standard_normal(std::uint64_t bits) {
  return random::with_sign(random::normal_size<T>(0.5 * inner_unit(bits)), bits);
}
/// x[k] = standard_normal(bits[k]).
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void standard_normals(int n, T* x, std::uint64_t const* bits) {
  double p[numbers_per_block];
  for (int k = 0; k < n; ++k) p[k] = 0.5 * inner_unit(bits[k]);
  random::normal_sizes(n, x, p);
  for (int k = 0; k < n; ++k) x[k] = random::with_sign(x[k], bits[k]);
}

/// low + (high - low) u, in [low, high). For bfloat16 computed in float and rounded.
template <class T>
struct Uniform {
  using Value = shardtype::detail::computed_t<T>;
  std::uint64_t key;
  Value low, range;
  T high, below_high;

  KOKKOS_FUNCTION T operator()(std::int64_t n) const {
    T const x(
        std::fma(range, random::unit<Value>(draw(key, static_cast<std::uint64_t>(n)).a), low));
    return x < high ? x : below_high;
  }
};

/// mean + deviation z; computed in float for bfloat16, which is rounded.
template <class T>
struct Normal {
  using Value = shardtype::detail::computed_t<T>;
  std::uint64_t key;
  Value mean, deviation;

  KOKKOS_FUNCTION T operator()(std::int64_t n) const {
    auto const z = random::standard_normal<Value>(draw(key, static_cast<std::uint64_t>(n)).a);
    return static_cast<T>(std::fma(deviation, z, mean));
  }
  KOKKOS_FUNCTION void block(int n, T* out, std::int64_t const* at) const {
    std::uint64_t bits[numbers_per_block];
    Value z[numbers_per_block];
    for (int k = 0; k < n; ++k) bits[k] = draw(key, static_cast<std::uint64_t>(at[k])).a;
    random::standard_normals(n, z, bits);
    for (int k = 0; k < n; ++k) out[k] = static_cast<T>(std::fma(deviation, z[k], mean));
  }
};

/// Real and imaginary part are independent, each with this deviation.
template <class T>
struct Normal<Kokkos::complex<T>> {
  std::uint64_t key;
  T mean_real, mean_imag, deviation;

  KOKKOS_FUNCTION Kokkos::complex<T> operator()(std::int64_t n) const {
    Bits const bits = draw(key, static_cast<std::uint64_t>(n));
    return {std::fma(deviation, random::standard_normal<T>(bits.a), mean_real),
            std::fma(deviation, random::standard_normal<T>(bits.b), mean_imag)};
  }
  KOKKOS_FUNCTION void block(int n, Kokkos::complex<T>* out, std::int64_t const* at) const {
    std::uint64_t a[numbers_per_block];
    std::uint64_t b[numbers_per_block];
    T x[numbers_per_block];
    T y[numbers_per_block];
    for (int k = 0; k < n; ++k) {
      Bits const bits = draw(key, static_cast<std::uint64_t>(at[k]));
      a[k] = bits.a;
      b[k] = bits.b;
    }
    random::standard_normals(n, x, a);
    random::standard_normals(n, y, b);
    for (int k = 0; k < n; ++k)
      out[k] = Kokkos::complex<T>(std::fma(deviation, x[k], mean_real),
                                  std::fma(deviation, y[k], mean_imag));
  }
};

/// A standard normal number given that it lies in [low, high], by inversion from the nearer tail,
/// in double.
template <class T>
struct TruncatedNormal {
  std::uint64_t key;
  T low, high;
  double below_low, above_high, inside;  // probabilities

  KOKKOS_FUNCTION T operator()(std::int64_t n) const {
    double const u = inner_unit(draw(key, static_cast<std::uint64_t>(n)).a);
    double const p = lower(u);
    double const q = upper(u);
    return limited(p < q ? -normal_size<double>(p) : normal_size<double>(q));
  }
  KOKKOS_FUNCTION void block(int n, T* out, std::int64_t const* at) const {
    double u[numbers_per_block];
    double x[numbers_per_block];
    for (int k = 0; k < n; ++k) u[k] = inner_unit(draw(key, static_cast<std::uint64_t>(at[k])).a);
    for (int k = 0; k < n; ++k) x[k] = lower(u[k]) < upper(u[k]) ? lower(u[k]) : upper(u[k]);
    normal_sizes(n, x, x);
    for (int k = 0; k < n; ++k) x[k] = lower(u[k]) < upper(u[k]) ? -x[k] : x[k];
    for (int k = 0; k < n; ++k) out[k] = limited(x[k]);
  }

 private:
  /// The probabilities to be below the number, and above it.
  KOKKOS_FUNCTION double lower(double u) const { return std::fma(inside, u, below_low); }
  KOKKOS_FUNCTION double upper(double u) const { return std::fma(inside, 1.0 - u, above_high); }
  KOKKOS_FUNCTION T limited(double size) const {
    T const x = static_cast<T>(size);
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
  KOKKOS_FUNCTION void block(int n, T* out, std::int64_t const* at) const {
    for (int k = 0; k < n; ++k) out[k] = (*this)(at[k]);
  }
};

/// The upper 64 bits of the product.
KOKKOS_FORCEINLINE_FUNCTION std::uint64_t upper_product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t half = 0xffffffffU;
  std::uint64_t const low = (a & half) * (b & half);
  std::uint64_t const one = (a >> 32) * (b & half) + (low >> 32);
  std::uint64_t const other = (a & half) * (b >> 32) + (one & half);
  return (a >> 32) * (b >> 32) + (one >> 32) + (other >> 32);
}

/// low + (64 random bits mod span); the `rejected` lowest bit patterns, which would favour small
/// numbers, are drawn again: exactly unbiased.
template <class T>
struct Integers {
  std::uint64_t key;
  std::uint64_t low, span, rejected;
  std::uint64_t inverse = ~std::uint64_t{0} / span;  // 2^64 / span, by which vectors divide

  KOKKOS_FUNCTION T operator()(std::int64_t n) const { return from(accepted(n)); }
  KOKKOS_FUNCTION void block(int n, T* out, std::int64_t const* at) const {
    std::uint64_t bits[numbers_per_block];
    for (int k = 0; k < n; ++k) bits[k] = draw(key, static_cast<std::uint64_t>(at[k])).a;
    std::uint64_t again = 0;
    for (int k = 0; k < n; ++k) again |= bits[k] < rejected ? std::uint64_t{1} : std::uint64_t{0};
    if (again != 0)
      for (int k = 0; k < n; ++k)
        if (bits[k] < rejected) bits[k] = accepted(at[k]);
    for (int k = 0; k < n; ++k) out[k] = from(bits[k]);
  }

 private:
  KOKKOS_FUNCTION std::uint64_t accepted(std::int64_t n) const {
    for (std::uint32_t attempt = 0;; ++attempt) {
      Bits const bits = draw(key, static_cast<std::uint64_t>(n), attempt);
      if (bits.a >= rejected) return bits.a;
      if (bits.b >= rejected) return bits.b;
    }
  }
  /// The product with `inverse` is the quotient or one less.
  KOKKOS_FORCEINLINE_FUNCTION T from(std::uint64_t bits) const {
    std::uint64_t const rest = bits - upper_product(bits, inverse) * span;
    return static_cast<T>(static_cast<std::int64_t>(low + (rest >= span ? rest - span : rest)));
  }
};

}  // namespace shardtype::random
