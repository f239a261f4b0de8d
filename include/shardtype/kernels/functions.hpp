#pragma once
/// Implementations of the functions of check/functions.hpp, for one element.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/check/functions.hpp>
#include <shardtype/kernels/complex_division.hpp>
#include <shardtype/kernels/complex_functions.hpp>
#include <shardtype/kernels/math.hpp>
#include <shardtype/kernels/rounded.hpp>
#include <shardtype/kernels/special_functions.hpp>

namespace shardtype::kernels {

/// A user's elementwise function.
template <class F, class... Ts>
KOKKOS_FUNCTION constexpr auto call(F const& f, Ts const&... x) {
  return f(x...);
}

namespace detail {

using shardtype::detail::is_complex;
using shardtype::detail::real_of;

template <class T>
KOKKOS_FUNCTION constexpr bool truth(T const& x) {
  return x != T{};
}

/// `p ? a : b` of computed values. On the host real values are selected by their bits, because g++
/// turns the conditional into a branch, moves code into it, and then does not vectorise the loop.
template <class T>
KOKKOS_FUNCTION T chosen(bool p, T const& a, T const& b) {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  if constexpr (std::is_same_v<T, bool>) {
    int const mask = p ? 1 : 0;
    return ((mask & static_cast<int>(a)) | ((1 - mask) & static_cast<int>(b))) != 0;
  } else if constexpr (std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8)) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    Bits const mask = Bits{0} - static_cast<Bits>(p);
    auto const x = std::bit_cast<Bits>(a);
    auto const y = std::bit_cast<Bits>(b);
    return std::bit_cast<T>(y ^ ((x ^ y) & mask));
  }
#endif
  return p ? a : b;
}

/// fmod(a, b). For floats with a small quotient the host computes it exactly, in double: the
/// quotient is rounded by less than its distance from an integer, and the product has at most 48
/// bits.
template <class T>
KOKKOS_FUNCTION T remainder(T a, T b) {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  if constexpr (std::is_same_v<T, float>) {
    double const quotient = double{a} / double{b};
    if (std::fabs(quotient) < 0x1p24 && std::fabs(b) <= std::numeric_limits<float>::max()) {
      double const whole = static_cast<double>(static_cast<std::int32_t>(quotient));
      return std::copysign(static_cast<float>(double{a} - whole * double{b}), a);
    }
  }
#endif
  return math::fmod(a, b);
}

/// On the host of single precision in double, in which squares of floats neither overflow nor
/// underflow.
template <class R>
KOKKOS_FUNCTION R absolute(Kokkos::complex<R> const& a) {
#if !defined(__CUDA_ARCH__) && !defined(__HIP_DEVICE_COMPILE__)
  if constexpr (std::is_same_v<R, float>) {
    double const re = static_cast<double>(a.real());
    double const im = static_cast<double>(a.imag());
    double const square = re * re + im * im;
    // infinite beside a NaN too
    bool const infinite = std::fabs(a.real()) > std::numeric_limits<float>::max() ||
                          std::fabs(a.imag()) > std::numeric_limits<float>::max();
    return infinite ? std::numeric_limits<float>::infinity()
                    : static_cast<float>(std::sqrt(square));
  }
#endif
  return math::hypot(a.real(), a.imag());
}

/// The sign and the remainder follow NumPy: the remainder has the sign of the divisor.
template <class T>
KOKKOS_FUNCTION T floor_remainder(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    // dividing the least integer by -1 would trap
    bool const none = b == T{} || (std::is_signed_v<T> && b == static_cast<T>(-1));
    T const r = none ? T{} : static_cast<T>(a % b);
    return r != T{} && (r < T{}) != (b < T{}) ? static_cast<T>(r + b) : r;
  } else {
    T const r = detail::remainder(a, b);
    return detail::chosen((r != T{}) & ((r < T{}) != (b < T{})), r + b, r);
  }
}
template <class T>
KOKKOS_FUNCTION T power(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a || !b;
  } else if constexpr (std::is_integral_v<T>) {
    if (b < T{}) return a == T{1} ? T{1} : (a == T{-1} ? (b % 2 == 0 ? T{1} : T{-1}) : T{});
    T out{1};
    for (; b > T{}; b = static_cast<T>(b / 2)) {
      if (b % 2 != 0) out = static_cast<T>(out * a);
      a = static_cast<T>(a * a);
    }
    return out;
  } else if constexpr (shardtype::detail::is_complex<T>) {
    return of_complex::pow(a, b);
  } else {
    return static_cast<T>(math::pow(a, b));
  }
}
template <class To, class T>
KOKKOS_FUNCTION To converted(T const& x) {
  if constexpr (shardtype::detail::is_complex<T> && !shardtype::detail::is_complex<To>) {
    return static_cast<To>(x.real());
  } else if constexpr (shardtype::detail::is_complex<T>) {
    using Part = shardtype::detail::real_of<To>;
    return To(static_cast<Part>(x.real()), static_cast<Part>(x.imag()));
  } else if constexpr (shardtype::detail::is_complex<To>) {
    return To(static_cast<shardtype::detail::real_of<To>>(x));
  } else if constexpr (std::is_same_v<T, bool>) {
    return detail::chosen(x, To{1}, To{0});
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace detail

// clang-format off
template <class T> KOKKOS_FUNCTION T call(functions::Add, T const& a, T const& b) { return static_cast<T>(a + b); }
template <class T> KOKKOS_FUNCTION T call(functions::Subtract, T const& a, T const& b) { return static_cast<T>(a - b); }
template <class T> KOKKOS_FUNCTION T call(functions::Multiply, T const& a, T const& b) { return static_cast<T>(a * b); }
template <class T> KOKKOS_FUNCTION T call(functions::Power, T const& a, T const& b) { return detail::power(a, b); }
template <class T> KOKKOS_FUNCTION T call(functions::Remainder, T const& a, T const& b) { return detail::floor_remainder(a, b); }
template <class T> KOKKOS_FUNCTION T call(functions::Atan2, T const& a, T const& b) { return math::atan2(a, b); }
template <class T> KOKKOS_FUNCTION T call(functions::Hypot, T const& a, T const& b) { return math::hypot(a, b); }
template <class T> KOKKOS_FUNCTION T call(functions::StopGradient, T const& a) { return a; }
template <class T> KOKKOS_FUNCTION T call(functions::Negate, T const& a) { return static_cast<T>(-a); }
template <class T> KOKKOS_FUNCTION T call(functions::Square, T const& a) { return static_cast<T>(a * a); }
template <class T> KOKKOS_FUNCTION T call(functions::Cbrt, T const& a) { return math::cbrt(a); }
template <class T> KOKKOS_FUNCTION T call(functions::Erf, T const& a) { return math::erf(a); }
template <class T> KOKKOS_FUNCTION T call(functions::Erfc, T const& a) { return math::erfc(a); }
template <class T> KOKKOS_FUNCTION T call(functions::LogGamma, T const& a) { return math::lgamma(a); }
template <class T> KOKKOS_FUNCTION T call(functions::ErfInv, T const& a) { return static_cast<T>(special::erfinv(a)); }
template <class T> KOKKOS_FUNCTION T call(functions::Digamma, T const& a) { return static_cast<T>(special::digamma(a)); }
template <class T> KOKKOS_FUNCTION T call(functions::BitAnd, T const& a, T const& b) { return static_cast<T>(a & b); }
template <class T> KOKKOS_FUNCTION T call(functions::BitOr, T const& a, T const& b) { return static_cast<T>(a | b); }
template <class T> KOKKOS_FUNCTION T call(functions::BitXor, T const& a, T const& b) { return static_cast<T>(a ^ b); }
template <class T> KOKKOS_FUNCTION bool call(functions::Equal, T const& a, T const& b) { return a == b; }
template <class T> KOKKOS_FUNCTION bool call(functions::NotEqual, T const& a, T const& b) { return a != b; }
template <class T> KOKKOS_FUNCTION bool call(functions::Less, T const& a, T const& b) { return a < b; }
template <class T> KOKKOS_FUNCTION bool call(functions::LessEqual, T const& a, T const& b) { return a <= b; }
template <class T> KOKKOS_FUNCTION bool call(functions::Greater, T const& a, T const& b) { return a > b; }
template <class T> KOKKOS_FUNCTION bool call(functions::GreaterEqual, T const& a, T const& b) { return a >= b; }
template <class T> KOKKOS_FUNCTION bool call(functions::And, T const& a, T const& b) { return (static_cast<int>(detail::truth(a)) & static_cast<int>(detail::truth(b))) != 0; }
template <class T> KOKKOS_FUNCTION bool call(functions::Or, T const& a, T const& b) { return (static_cast<int>(detail::truth(a)) | static_cast<int>(detail::truth(b))) != 0; }
template <class T> KOKKOS_FUNCTION bool call(functions::Not, T const& a) { return !detail::truth(a); }
template <class T> KOKKOS_FUNCTION T call(functions::Where, bool const& p, T const& a, T const& b) { return detail::chosen(p, a, b); }
template <class To, class T> KOKKOS_FUNCTION To call(functions::Cast<To>, T const& a) { return detail::converted<To>(a); }
// clang-format on

/// A function of two kinds of elements: of those of the first kind, and of others.
#define SHARDTYPE_BY_KIND(F, is_first, of_first, of_others) \
  template <class T>                                        \
  KOKKOS_FUNCTION auto call(functions::F, T const& a) {     \
    if constexpr (is_first<T>) {                            \
      return of_first;                                      \
    } else {                                                \
      return of_others;                                     \
    }                                                       \
  }
// clang-format off
SHARDTYPE_BY_KIND(Floor, std::is_integral_v, a, math::floor(a))
SHARDTYPE_BY_KIND(Ceil, std::is_integral_v, a, math::ceil(a))
// the nearest integer, halves to even; assumes the default rounding mode
SHARDTYPE_BY_KIND(Round, std::is_integral_v, a, math::nearbyint(a))
SHARDTYPE_BY_KIND(Conjugate, detail::is_complex, T(a.real(), -a.imag()), a)
SHARDTYPE_BY_KIND(Real, detail::is_complex, a.real(), a)
SHARDTYPE_BY_KIND(Imaginary, detail::is_complex, a.imag(), T{})
SHARDTYPE_BY_KIND(Absolute, detail::is_complex, detail::absolute(a), a < T{} ? static_cast<T>(-a) : (a == T{} ? T{} : a))
SHARDTYPE_BY_KIND(Sqrt, detail::is_complex, of_complex::sqrt(a), math::sqrt(a))
SHARDTYPE_BY_KIND(Exp, detail::is_complex, of_complex::exp(a), math::exp(a))
SHARDTYPE_BY_KIND(Expm1, detail::is_complex, of_complex::expm1(a), math::expm1(a))
SHARDTYPE_BY_KIND(Log, detail::is_complex, of_complex::log(a), math::log(a))
SHARDTYPE_BY_KIND(Log1p, detail::is_complex, of_complex::log1p(a), math::log1p(a))
SHARDTYPE_BY_KIND(Sin, detail::is_complex, of_complex::sin(a), math::sin(a))
SHARDTYPE_BY_KIND(Cos, detail::is_complex, of_complex::cos(a), math::cos(a))
SHARDTYPE_BY_KIND(Tan, detail::is_complex, of_complex::tan(a), math::tan(a))
SHARDTYPE_BY_KIND(Asin, detail::is_complex, of_complex::asin(a), math::asin(a))
SHARDTYPE_BY_KIND(Acos, detail::is_complex, of_complex::acos(a), math::acos(a))
SHARDTYPE_BY_KIND(Atan, detail::is_complex, of_complex::atan(a), math::atan(a))
SHARDTYPE_BY_KIND(Sinh, detail::is_complex, of_complex::sinh(a), math::sinh(a))
SHARDTYPE_BY_KIND(Cosh, detail::is_complex, of_complex::cosh(a), math::cosh(a))
SHARDTYPE_BY_KIND(Tanh, detail::is_complex, of_complex::tanh(a), math::tanh(a))
SHARDTYPE_BY_KIND(Rsqrt, detail::is_complex, of_complex::rsqrt(a), T(1) / math::sqrt(a))
SHARDTYPE_BY_KIND(Log2, detail::is_complex, of_complex::log(a) * std::numbers::log2e_v<detail::real_of<T>>, math::log2(a))
SHARDTYPE_BY_KIND(Log10, detail::is_complex, of_complex::log(a) * std::numbers::log10e_v<detail::real_of<T>>, math::log10(a))
SHARDTYPE_BY_KIND(Exp2, detail::is_complex, of_complex::exp2(a), math::exp2(a))
// clang-format on
#undef SHARDTYPE_BY_KIND

/// An integer divided by zero gives zero, so that no rank crashes.
template <class T>
KOKKOS_FUNCTION T call(functions::Divide, T const& a, T const& b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == T{}) return T{};
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(T{} - a);
  }
  if constexpr (shardtype::detail::is_complex<T>)
    return kernels::quotient(a, b);
  else
    return static_cast<T>(a / b);
}
/// The larger one; a NaN if one is, as NumPy's maximum.
template <class T>
KOKKOS_FUNCTION T call(functions::Maximum, T const& a, T const& b) {
  return detail::chosen((a > b) | (a != a), a, b);
}
template <class T>
KOKKOS_FUNCTION T call(functions::Minimum, T const& a, T const& b) {
  return detail::chosen((a < b) | (a != a), a, b);
}
/// `a` limited to the bounds; NaN if one of the three is NaN. The upper bound wins, as in NumPy.
template <class T>
KOKKOS_FUNCTION T call(functions::Clip, T const& a, T const& low, T const& high) {
  return kernels::call(functions::Minimum{}, kernels::call(functions::Maximum{}, a, low), high);
}
template <class T>
KOKKOS_FUNCTION T call(functions::Relu, T const& a) {
  return kernels::call(functions::Maximum{}, a, T{});
}
/// All bits inverted; of bool the other one.
template <class T>
KOKKOS_FUNCTION T call(functions::BitNot, T const& a) {
  if constexpr (std::is_same_v<T, bool>) {
    return !a;
  } else {
    return static_cast<T>(~a);
  }
}
/// a 2^b, wrapping around; 0 if b is no number of a bit, as XLA.
template <class T>
KOKKOS_FUNCTION T call(functions::ShiftLeft, T const& a, T const& b) {
  using Bits = std::make_unsigned_t<T>;
  bool const none = static_cast<Bits>(b) >= static_cast<Bits>(8 * sizeof(T));
  Bits const by = none ? Bits{} : static_cast<Bits>(b);
  return none ? T{} : static_cast<T>(static_cast<Bits>(static_cast<Bits>(a) << by));
}
/// floor(a / 2^b); the sign alone if b is no number of a bit, as XLA.
template <class T>
KOKKOS_FUNCTION T call(functions::ShiftRight, T const& a, T const& b) {
  using Bits = std::make_unsigned_t<T>;
  bool const none = static_cast<Bits>(b) >= static_cast<Bits>(8 * sizeof(T));
  Bits const by = none ? Bits{} : static_cast<Bits>(b);
  T const sign = a < T{} ? static_cast<T>(~T{}) : T{};
  return none ? sign : static_cast<T>(a >> by);
}
/// log(e^a + e^b) without overflow. Equal infinities are handled separately, because their
/// difference would be NaN.
template <class T>
KOKKOS_FUNCTION T call(functions::LogAddExp, T const& a, T const& b) {
  T const larger = kernels::call(functions::Maximum{}, a, b);
  T const apart = a == b ? T(0) : -kernels::call(functions::Absolute{}, a - b);
  return larger + math::log1p(math::exp(apart));
}
/// 1 / (1 + e^-a). Uses the exponential of a negative number, so that small results are accurate.
template <class T>
KOKKOS_FUNCTION T call(functions::Sigmoid, T const& a) {
  T const e = math::exp(-kernels::call(functions::Absolute{}, a));
  return detail::chosen(a < T(0), e, T(1)) / (T(1) + e);
}
/// log(1 + e^a).
template <class T>
KOKKOS_FUNCTION T call(functions::Softplus, T const& a) {
  return kernels::call(functions::Relu{}, a) +
         math::log1p(math::exp(-kernels::call(functions::Absolute{}, a)));
}
namespace detail {
/// A number times a weight from 0 to 1; 0 if the weight is 0, also for -infinity.
template <class T>
KOKKOS_FUNCTION T weighted(T const& a, T const& weight) {
  return detail::chosen(weight == T(0), T(0), a * weight);
}
}  // namespace detail
template <class T>
KOKKOS_FUNCTION T call(functions::Silu, T const& a) {
  return detail::weighted(a, kernels::call(functions::Sigmoid{}, a));
}
template <class T>
KOKKOS_FUNCTION T call(functions::Gelu, T const& a) {
  return detail::weighted(a, T(0.5) * math::erfc(a * T(-0.7071067811865476)));
}
namespace detail {
/// 2 u of gelu with tanh(u).
template <class T>
KOKKOS_FUNCTION T twice_inner_gelu(T const& a) {
  T const cube = T(0.044715) * a * a * a;
  return T(1.5957691216057308) * (a + SHARDTYPE_ROUNDED(cube));
}
}  // namespace detail
/// (1 + tanh(u)) / 2 is the sigmoid of 2 u, which is accurate where tanh is near -1.
template <class T>
KOKKOS_FUNCTION T call(functions::GeluTanh, T const& a) {
  return detail::weighted(a, kernels::call(functions::Sigmoid{}, detail::twice_inner_gelu(a)));
}
/// a, below 0 alpha (e^a - 1).
template <class T>
KOKKOS_FUNCTION T call(functions::Elu, T const& a, T const& alpha) {
  return detail::chosen(a > T(0), a,
                        alpha * math::expm1(kernels::call(functions::Minimum{}, a, T(0))));
}
/// a, below 0 a times the slope.
template <class T>
KOKKOS_FUNCTION T call(functions::LeakyRelu, T const& a, T const& slope) {
  return detail::chosen(a >= T(0), a, a * slope);
}
/// The quotient rounded down, `a == floor_divide(a, b) * b + a % b`; for integers 0 if the divisor
/// is 0.
template <class T>
KOKKOS_FUNCTION T call(functions::FloorDivide, T const& a, T const& b) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    // in double, which is exact and has vectors; the least number by -1 wraps around
    T const divisor = detail::chosen(b == T{}, T{1}, b);
    double const quotient = static_cast<double>(a) / static_cast<double>(divisor);
    double const least = std::numeric_limits<T>::min();
    double const q = detail::chosen(quotient >= -least, least, quotient);
    T const whole = static_cast<T>(q);  // towards zero
    T const below = detail::chosen(static_cast<double>(whole) > q, T{1}, T{});
    return detail::chosen(b == T{}, T{}, static_cast<T>(whole - below));
  } else if constexpr (std::is_integral_v<T>) {
    T const q = kernels::call(functions::Divide{}, a, b);
    T const r = detail::floor_remainder(a, b);
    // the quotient is rounded towards zero, so subtract 1 if there is a remainder of opposite sign
    return r != T{} && (a < T{}) != (b < T{}) ? static_cast<T>(q - T(1)) : q;
  } else {
    T const r = detail::remainder(a, b);
    T const below = detail::chosen((r != T(0)) & ((r < T(0)) != (b < T(0))), T(1), T(0));
    return detail::chosen(b == T(0), a / b, math::nearbyint((a - r) / b) - below);
  }
}
template <class T>
KOKKOS_FUNCTION T call(functions::Sign, T const& a) {
  return a > T{} ? T{1} : (a < T{} ? static_cast<T>(-T{1}) : a);
}
template <class T>
KOKKOS_FUNCTION bool call(functions::IsNan, T const& a) {
  return a != a;
}
template <class T>
KOKKOS_FUNCTION bool call(functions::IsFinite, T const& a) {
  if constexpr (shardtype::detail::is_complex<T>) {
    return kernels::call(functions::IsFinite{}, a.real()) &&
           kernels::call(functions::IsFinite{}, a.imag());
  } else if constexpr (std::is_integral_v<T>) {
    return true;
  } else {
    return a - a == T{};
  }
}
template <class T>
KOKKOS_FUNCTION bool call(functions::IsInf, T const& a) {
  if constexpr (shardtype::detail::is_complex<T>) {
    return kernels::call(functions::IsInf{}, a.real()) ||
           kernels::call(functions::IsInf{}, a.imag());
  } else if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return a == a && a - a != T{};
  }
}

namespace detail {

/// |a - b| in double; of integers the exact difference is rounded once.
template <class T>
KOKKOS_FUNCTION double distance(T const& a, T const& b) {
  if constexpr (shardtype::detail::is_complex<T>) {
    using Wide = Kokkos::complex<double>;
    return call(functions::Absolute{}, Wide(a.real(), a.imag()) - Wide(b.real(), b.imag()));
  } else if constexpr (std::is_same_v<T, bool>) {
    return a == b ? 0 : 1;
  } else if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    Bits const apart = static_cast<Bits>(a < b ? static_cast<Bits>(b) - static_cast<Bits>(a)
                                               : static_cast<Bits>(a) - static_cast<Bits>(b));
    return static_cast<double>(apart);
  } else {
    return math::fabs(static_cast<double>(a) - static_cast<double>(b));
  }
}

}  // namespace detail

template <class T>
KOKKOS_FUNCTION bool call(functions::Close const& f, T const& a, T const& b) {
  if (a == b) return true;
  if (kernels::call(functions::IsNan{}, a) && kernels::call(functions::IsNan{}, b))
    return f.equal_nan;
  if (!kernels::call(functions::IsFinite{}, a) || !kernels::call(functions::IsFinite{}, b))
    return false;
  return detail::distance(a, b) <= f.atol + f.rtol * detail::distance(b, T{});
}

namespace detail {

/// `x` as a finite T, the nearest; infinities and NaN stay.
template <class T>
KOKKOS_FUNCTION T nearest_finite(double x) {
  constexpr T largest = std::numeric_limits<T>::max();
  bool const beyond =
      math::fabs(x) > static_cast<double>(largest) && !kernels::detail::is_infinite(x);
  return beyond ? (x > 0 ? largest : static_cast<T>(-largest)) : static_cast<T>(x);
}

}  // namespace detail

template <class T>
KOKKOS_FUNCTION T call(functions::NanToNum const& f, T const& a) {
  if constexpr (shardtype::detail::is_complex<T>) {
    return T(kernels::call(f, a.real()), kernels::call(f, a.imag()));
  } else if constexpr (std::is_integral_v<T>) {
    return a;
  } else {
    if (a != a) return detail::nearest_finite<T>(f.nan);
    if (kernels::call(functions::IsFinite{}, a)) return a;
    return detail::nearest_finite<T>(a > T(0) ? f.posinf : f.neginf);
  }
}

/// Functions that select a value, of bfloat16 too.
template <class F>
inline constexpr bool only_selects =
    std::is_same_v<F, functions::Where> || std::is_same_v<F, functions::NanToNum>;

/// `f` of elements as they are stored. The library's functions of bfloat16 are computed in float,
/// and their results rounded once, but of those that only select.
template <class F, class... Ts>
KOKKOS_FUNCTION constexpr auto apply(F const& f, Ts const&... x) {
  using shardtype::detail::computed_t;
  constexpr bool converts = shardtype::detail::is_tag<F> && !only_selects<F> &&
                            (shardtype::detail::is_converted<Ts> || ...);
  if constexpr (!converts) {
    return kernels::call(f, x...);
  } else if constexpr (shardtype::detail::is_cast<F> || F::gives == functions::Gives::boolean) {
    return kernels::call(f, static_cast<computed_t<Ts>>(x)...);
  } else {
    return bfloat16(kernels::call(f, static_cast<computed_t<Ts>>(x)...));
  }
}

/// The largest value of an element type, or the least.
template <class T, bool Largest>
KOKKOS_FUNCTION constexpr T extreme_value() {
  if constexpr (std::is_same_v<T, bool>) {
    return Largest;
  } else if constexpr (std::is_integral_v<T>) {
    constexpr T top =
        static_cast<T>((static_cast<std::make_unsigned_t<T>>(~std::make_unsigned_t<T>{}) >> 1));
    return Largest ? top : static_cast<T>(-top - 1);
  } else if constexpr (std::is_same_v<T, bfloat16>) {
    return Largest ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
  } else {
    T const huge =
        sizeof(T) == 4 ? static_cast<T>(3.40282347e+38F) : static_cast<T>(1.7976931348623157e+308);
    return Largest ? huge * T(2) : -huge * T(2);  // infinities
  }
}

}  // namespace shardtype::kernels
