#pragma once
/// Exponential, Gumbel and gamma distributions as functors, as those of distributions.hpp; computed
/// in double.

#include <cmath>
#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

#include <shardtype/random/distributions.hpp>
#include <shardtype/random/key.hpp>
#include <shardtype/random/normal_below.hpp>
#include <shardtype/random/quantile.hpp>

namespace shardtype::random {

/// -scale log(u), of 52 bits: above 0, at most 36.8 scales.
template <class T>
struct Exponential {
  std::uint64_t key;
  double scale;

  KOKKOS_FUNCTION T operator()(std::int64_t n) const {
    double const u = inner_unit(draw(key, static_cast<std::uint64_t>(n)).a);
    return static_cast<T>(scale * detail::minus_log(u));
  }
};

/// location - scale log(-log(u)).
template <class T>
struct Gumbel {
  std::uint64_t key;
  double location, scale;

  KOKKOS_FUNCTION T operator()(std::int64_t n) const {
    double const u = inner_unit(draw(key, static_cast<std::uint64_t>(n)).a);
    return static_cast<T>(std::fma(scale, detail::minus_log(detail::minus_log(u)), location));
  }
};

/// Of density x^(shape - 1) e^(-x) / Gamma(shape), times the scale. Rejection from the cube of a
/// normal number; each attempt has bits of its own. For a shape below 1 a number of shape + 1 times
/// u^(1 / shape). Source: Marsaglia and Tsang, "A simple method for generating gamma variables",
/// ACM Transactions on Mathematical Software 26 (2000).
template <class T>
struct Gamma {
  std::uint64_t key;
  double shape, scale;

  KOKKOS_FUNCTION T operator()(std::int64_t n) const {
    auto const counter = static_cast<std::uint64_t>(n);
    bool const small = shape < 1.0;
    double const d = (small ? shape + 1.0 : shape) - 1.0 / 3.0;
    double const c = 1.0 / detail::root(9.0 * d);
    double out = d;
    for (std::uint32_t attempt = 0; attempt < of_power; ++attempt) {
      Bits const bits = draw(key, counter, attempt);
      double const x = random::standard_normal<double>(bits.a);
      double const w = std::fma(c, x, 1.0);
      if (!(w > 0)) continue;
      double const square = w * w;
      double const cube = square * w;
      double const apart = std::fma(-square, w, 1.0) - detail::minus_log(cube);
      out = d * cube;
      if (-detail::minus_log(inner_unit(bits.b)) < std::fma(d, apart, 0.5 * x * x)) break;
    }
    if (small) {
      double const power = -detail::minus_log(inner_unit(draw(key, counter, of_power).a)) / shape;
      out = power > -745.0 ? out * detail::exponential(power) : 0.0;
    }
    return static_cast<T>(scale * out);
  }

 private:
  /// The attempt whose bits give u of u^(1 / shape); no other one comes so far.
  static constexpr std::uint32_t of_power = std::numeric_limits<std::uint32_t>::max();
};

}  // namespace shardtype::random
