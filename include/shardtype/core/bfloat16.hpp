#pragma once
/// The element type bfloat16: the upper half of a float.

#include <cstdint>
#include <limits>
#include <type_traits>

// without Kokkos, whose macro for functions of devices is the same
#if defined(__CUDACC__) || defined(__HIPCC__)
#define SHARDTYPE_DEVICE __host__ __device__
#else
#define SHARDTYPE_DEVICE
#endif

namespace shardtype {

/// A floating-point number of 16 bits: the sign, the 8 exponent bits of float, 7 bits of fraction.
/// It converts to float exactly and implicitly, and from other numbers explicitly, to the nearest
/// bfloat16, halves to even; beyond the largest to infinity. NaN stays NaN.
///
/// `+ - * /` of two are computed in float and rounded once. With an integer the result is a
/// bfloat16 as well, with float or double it is the wider type, as in JAX.
class bfloat16 {
 public:
  bfloat16() = default;
  SHARDTYPE_DEVICE explicit constexpr bfloat16(float x) : bits_(rounded(x)) {}
  SHARDTYPE_DEVICE explicit constexpr bfloat16(double x) : bits_(rounded(odd(x))) {}
  template <class N>
    requires std::is_integral_v<N>
  SHARDTYPE_DEVICE explicit constexpr bfloat16(N n) : bfloat16(static_cast<double>(n)) {}

  /// The number with these bits.
  SHARDTYPE_DEVICE static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 out{};
    out.bits_ = bits;
    return out;
  }
  SHARDTYPE_DEVICE constexpr std::uint16_t bits() const { return bits_; }

  SHARDTYPE_DEVICE constexpr operator float() const {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits_) << 16);
  }

  SHARDTYPE_DEVICE friend constexpr bfloat16 operator-(bfloat16 a) {
    return from_bits(static_cast<std::uint16_t>(a.bits_ ^ 0x8000U));
  }
  SHARDTYPE_DEVICE friend constexpr bfloat16 operator+(bfloat16 a, bfloat16 b) {
    return bfloat16(static_cast<float>(a) + static_cast<float>(b));
  }
  SHARDTYPE_DEVICE friend constexpr bfloat16 operator-(bfloat16 a, bfloat16 b) {
    return bfloat16(static_cast<float>(a) - static_cast<float>(b));
  }
  SHARDTYPE_DEVICE friend constexpr bfloat16 operator*(bfloat16 a, bfloat16 b) {
    return bfloat16(static_cast<float>(a) * static_cast<float>(b));
  }
  SHARDTYPE_DEVICE friend constexpr bfloat16 operator/(bfloat16 a, bfloat16 b) {
    return bfloat16(static_cast<float>(a) / static_cast<float>(b));
  }
  SHARDTYPE_DEVICE constexpr bfloat16& operator+=(bfloat16 b) { return *this = *this + b; }
  SHARDTYPE_DEVICE constexpr bfloat16& operator-=(bfloat16 b) { return *this = *this - b; }
  SHARDTYPE_DEVICE constexpr bfloat16& operator*=(bfloat16 b) { return *this = *this * b; }
  SHARDTYPE_DEVICE constexpr bfloat16& operator/=(bfloat16 b) { return *this = *this / b; }

 private:
  /// The upper half of the nearest float whose lower half is zero.
  SHARDTYPE_DEVICE static constexpr std::uint16_t rounded(float x) {
    auto const bits = __builtin_bit_cast(std::uint32_t, x);
    std::uint32_t const upper = bits >> 16;
    // a NaN keeps the upper digits of its fraction, unless they are all zero
    std::uint32_t const nan = (upper & 0x7FU) != 0 ? upper : upper | 0x40U;
    std::uint32_t const nearest = (bits + 0x7FFFU + (upper & 1U)) >> 16;
    return static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? nan : nearest);
  }
  /// `x` as a float, rounded so that rounding it again is as if `x` were rounded once: if it is
  /// inexact, to the neighbour with an odd fraction (Boldo and Melquiond, "Emulation of FMA and
  /// correctly rounded sums: proved algorithms using rounding to odd", 2008).
  SHARDTYPE_DEVICE static constexpr float odd(double x) {
    auto const nearest = static_cast<float>(x);
    auto const back = static_cast<double>(nearest);
    if (back == x || x != x) return nearest;
    auto bits = __builtin_bit_cast(std::uint32_t, nearest);
    bool const beyond = x < 0 ? back < x : back > x;
    bits = (beyond ? bits - 1 : bits) | 1U;
    return __builtin_bit_cast(float, bits);
  }

  std::uint16_t bits_;
};

// With an integer, which is converted first.
// clang-format off
template <class N> requires std::is_integral_v<N>
SHARDTYPE_DEVICE constexpr bfloat16 operator+(bfloat16 a, N b) { return a + bfloat16(b); }
template <class N> requires std::is_integral_v<N>
SHARDTYPE_DEVICE constexpr bfloat16 operator+(N a, bfloat16 b) { return bfloat16(a) + b; }
template <class N> requires std::is_integral_v<N>
SHARDTYPE_DEVICE constexpr bfloat16 operator-(bfloat16 a, N b) { return a - bfloat16(b); }
template <class N> requires std::is_integral_v<N>
SHARDTYPE_DEVICE constexpr bfloat16 operator-(N a, bfloat16 b) { return bfloat16(a) - b; }
template <class N> requires std::is_integral_v<N>
SHARDTYPE_DEVICE constexpr bfloat16 operator*(bfloat16 a, N b) { return a * bfloat16(b); }
template <class N> requires std::is_integral_v<N>
SHARDTYPE_DEVICE constexpr bfloat16 operator*(N a, bfloat16 b) { return bfloat16(a) * b; }
template <class N> requires std::is_integral_v<N>
SHARDTYPE_DEVICE constexpr bfloat16 operator/(bfloat16 a, N b) { return a / bfloat16(b); }
template <class N> requires std::is_integral_v<N>
SHARDTYPE_DEVICE constexpr bfloat16 operator/(N a, bfloat16 b) { return bfloat16(a) / b; }
// clang-format on

}  // namespace shardtype

namespace std {

template <>
struct numeric_limits<shardtype::bfloat16> : numeric_limits<float> {
  using bfloat16 = shardtype::bfloat16;
  static constexpr int digits = 8;
  static constexpr int digits10 = 2;
  static constexpr int max_digits10 = 4;
  static constexpr bool is_iec559 = false;
  SHARDTYPE_DEVICE static constexpr bfloat16 min() noexcept { return bfloat16::from_bits(0x0080); }
  SHARDTYPE_DEVICE static constexpr bfloat16 max() noexcept { return bfloat16::from_bits(0x7F7F); }
  SHARDTYPE_DEVICE static constexpr bfloat16 lowest() noexcept {
    return bfloat16::from_bits(0xFF7F);
  }
  SHARDTYPE_DEVICE static constexpr bfloat16 epsilon() noexcept {
    return bfloat16::from_bits(0x3C00);
  }
  SHARDTYPE_DEVICE static constexpr bfloat16 round_error() noexcept {
    return bfloat16::from_bits(0x3F00);
  }
  SHARDTYPE_DEVICE static constexpr bfloat16 infinity() noexcept {
    return bfloat16::from_bits(0x7F80);
  }
  SHARDTYPE_DEVICE static constexpr bfloat16 quiet_NaN() noexcept {
    return bfloat16::from_bits(0x7FC0);
  }
  SHARDTYPE_DEVICE static constexpr bfloat16 signaling_NaN() noexcept {
    return bfloat16::from_bits(0x7F81);
  }
  SHARDTYPE_DEVICE static constexpr bfloat16 denorm_min() noexcept {
    return bfloat16::from_bits(0x0001);
  }
};

}  // namespace std

#undef SHARDTYPE_DEVICE
