#pragma once
/// Numbers with an exponent of their own, which never overflow or underflow: products that
/// gradients divide or multiply by.

#include <bit>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/functions.hpp>

namespace shardtype::kernels {

namespace detail {

// Real and complex numbers alike.
KOKKOS_FUNCTION inline double larger_part(double x) { return math::fabs(x); }
KOKKOS_FUNCTION inline double larger_part(Kokkos::complex<double> const& x) {
  double const re = math::fabs(x.real());
  double const im = math::fabs(x.imag());
  return re > im || re != re ? re : im;
}
/// x 2^e, in two steps, because 2^e alone may be out of range.
template <class W>
KOKKOS_FUNCTION W times_power(W const& x, std::int64_t e) {
  return W(W(x * power_of_two(e / 2)) * power_of_two(e - e / 2));
}

}  // namespace detail

/// m 2^exponent; the larger part of m is from 1/2 to below 1. Of 0, of infinities and of NaN the
/// exponent is 0.
template <class W>
struct Scaled {
  W m{};
  std::int64_t exponent = 0;

  Scaled() = default;
  KOKKOS_FUNCTION Scaled(W const& x, std::int64_t e) : m(x), exponent(e) {
    double const size = detail::larger_part(x);
    if (size == 0 || !detail::is_finite(size)) {
      exponent = 0;
    } else {
      std::int64_t const by = detail::binary_exponent(size);
      m = detail::times_power(x, -by);
      exponent += by;
    }
  }
  KOKKOS_FUNCTION explicit Scaled(W const& x) : Scaled(x, 0) {}
  KOKKOS_FUNCTION W value() const { return detail::times_power(m, exponent); }
  KOKKOS_FUNCTION bool scales() const {
    double const size = detail::larger_part(m);
    return size != 0 && detail::is_finite(size);
  }

  KOKKOS_FUNCTION friend Scaled operator*(Scaled const& a, Scaled const& b) {
    return Scaled(W(a.m * b.m), a.exponent + b.exponent);
  }
  KOKKOS_FUNCTION friend Scaled operator+(Scaled const& a, Scaled const& b) {
    if (!a.scales() || !b.scales())
      return detail::larger_part(a.m) == 0   ? b
             : detail::larger_part(b.m) == 0 ? a
                                             : Scaled(W(a.m + b.m), 0);
    Scaled const& high = a.exponent < b.exponent ? b : a;
    Scaled const& low = a.exponent < b.exponent ? a : b;
    return Scaled(W(high.m + W(low.m * detail::power_of_two(low.exponent - high.exponent))),
                  high.exponent);
  }
};

/// The product of the elements that are neither 0 nor infinite nor NaN, as m 2^exponent, times the
/// signs of the others; and whether there are none, one or more of each of these.
template <class W>
struct ScaledProduct {
  enum Class : std::int8_t { zeros = 0, infinities = 2, nans = 4, others = 6 };
  static constexpr std::int64_t classes = 64;

  /// The class of an element; the element, or 1 or -1 in place of it.
  KOKKOS_FUNCTION static Class sorted(W& x) {
    double const size = detail::larger_part(x);
    if (detail::is_finite(size) && size != 0) return others;
    Class const which = size == 0 ? zeros : (size == size && !is_complex ? infinities : nans);
    x = W(1);
    return which;
  }
  KOKKOS_FUNCTION static Class sorted(W& x, bool negative) {
    Class const which = sorted(x);
    if (which != others && negative) x = W(-1);
    return which;
  }
  KOKKOS_FUNCTION static bool negative(W const& x) {
    if constexpr (is_complex) {
      return false;
    } else {
      return std::bit_cast<std::int64_t>(x) < 0;
    }
  }
  /// The number of elements of a class, 2 if there are more.
  KOKKOS_FUNCTION static std::int64_t count(std::int64_t scale, Class of) {
    return (scale >> of) & 3;
  }
  /// The scale: 64 times the exponent, and the numbers of elements of the three classes.
  KOKKOS_FUNCTION static std::int64_t joined(std::int64_t a, std::int64_t b) {
    std::int64_t out = ((a >> 6) + (b >> 6)) * classes;
    for (Class const c : {zeros, infinities, nans}) {
      std::int64_t const n = count(a, c) + count(b, c);
      out += (n > 2 ? 2 : n) << c;
    }
    return out;
  }

 private:
  static constexpr bool is_complex = shardtype::detail::is_complex<W>;
};

/// A factor of a product without its power of two: its larger part is from 1/4 to below 1/2. Of 0,
/// of infinities and of NaN 1/4 with their sign.
struct WithoutPower {
  template <class W>
  KOKKOS_FUNCTION W operator()(W const& a) const {
    W x = a;
    ScaledProduct<W>::sorted(x, ScaledProduct<W>::negative(a));
    return W(Scaled<W>(x).m * 0.5);
  }
};
/// The power of two with which the quotient of a product's m and a factor WithoutPower is the
/// product of the other factors; 0, infinity or NaN if this is.
struct PowerOfOthers {
  template <class W>
  KOKKOS_FUNCTION W operator()(W const& a, double scale) const {
    using Product = ScaledProduct<W>;
    W x = a;
    auto const own = Product::sorted(x);
    auto const all = static_cast<std::int64_t>(scale);
    auto const others = [&](typename Product::Class c) {
      return Product::count(all, c) - (own == c ? 1 : 0) > 0;
    };
    bool const zero = others(Product::zeros);
    bool const infinite = others(Product::infinities);
    double const infinity = detail::power_of_two(1024);
    if (others(Product::nans) || (zero && infinite)) return W(infinity - infinity);
    if (zero) return W(0);
    if (infinite) return W(infinity);
    return W(detail::power_of_two((all >> 6) - Scaled<W>(x).exponent - 1));
  }
};

}  // namespace shardtype::kernels
