#pragma once
/// Elements that are plain functions of their row-major position in the whole tensor.

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/reducers.hpp>

namespace shardtype::kernels {

/// start + n step; of float in double, of integers in their own type.
template <class T>
struct Stepped {
  wide_t<T> start, step;

  KOKKOS_FUNCTION T operator()(std::int64_t n) const {
    if constexpr (std::is_integral_v<T>) {
      // without a sign, where nothing overflows
      return static_cast<T>(static_cast<std::uint64_t>(start) +
                            static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(step));
    } else {
      return static_cast<T>(start + static_cast<wide_t<T>>(n) * step);
    }
  }
};

/// Evenly spaced numbers, of which the last, of `count`, is exactly `stop`. Those of integers are rounded down.
template <class T>
struct Spaced {
  double start, step;
  T stop;
  std::int64_t count;

  KOKKOS_FUNCTION T operator()(std::int64_t n) const {
    if (n > 0 && n + 1 == count) return stop;
    double const x = start + static_cast<double>(n) * step;
    return static_cast<T>(std::is_integral_v<T> ? math::floor(x) : x);
  }
};

/// Ones on the diagonal, of a matrix with so many columns, that begins at column `diagonal` of row 0.
template <class T>
struct OnDiagonal {
  std::int64_t columns, diagonal;

  KOKKOS_FUNCTION T operator()(std::int64_t n) const {
    return n % columns - n / columns == diagonal ? T(1) : T(0);
  }
};

}  // namespace shardtype::kernels
