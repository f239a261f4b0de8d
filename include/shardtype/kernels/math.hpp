#pragma once
/// Real functions that hosts and devices have, and the exponents of floating-point numbers.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <Kokkos_Core.hpp>

namespace shardtype::kernels {

/// Kokkos' functions of real numbers; the namespace depends on the version. Its functions of
/// complex numbers are not used: complex_functions.hpp says why.
namespace math {
using namespace Kokkos;
using namespace Kokkos::Experimental;
}  // namespace math

namespace detail {

template <class R>
KOKKOS_FUNCTION bool is_finite(R x) {
  return x - x == R(0);
}
template <class R>
KOKKOS_FUNCTION bool is_infinite(R x) {
  constexpr R max = std::numeric_limits<R>::max();
  return math::fabs(x) > max;
}
/// Whether the sign is negative, of zeros and of NaN too.
KOKKOS_FUNCTION inline bool negative(double x) { return std::bit_cast<std::int64_t>(x) < 0; }
KOKKOS_FUNCTION inline bool negative(float x) { return std::bit_cast<std::int32_t>(x) < 0; }
/// The absolute value of `x` with the sign of `sign`.
template <class R>
KOKKOS_FUNCTION R with_sign(R x, R sign) {
  return detail::negative(x) == detail::negative(sign) ? x : -x;
}

/// 2^e; 0 or infinity beyond the range of double.
KOKKOS_FUNCTION inline double power_of_two(std::int64_t e) {
  std::uint64_t const bits = e > 1023    ? 0x7ff0000000000000U
                             : e < -1074 ? 0U
                             : e < -1022 ? std::uint64_t{1} << (e + 1074)
                                         : static_cast<std::uint64_t>(e + 1023) << 52;
  return std::bit_cast<double>(bits);
}
/// The exponent e of a finite number that is not 0, of which the absolute value is from 2^(e - 1)
/// to below 2^e.
KOKKOS_FUNCTION inline std::int64_t binary_exponent(double x) {
  bool const small = math::fabs(x) < 0x1p-1022;
  auto const bits = std::bit_cast<std::uint64_t>(small ? x * 0x1p54 : x);
  return static_cast<std::int64_t>((bits >> 52) & 0x7ffU) - (small ? 1076 : 1022);
}

}  // namespace detail

}  // namespace shardtype::kernels
