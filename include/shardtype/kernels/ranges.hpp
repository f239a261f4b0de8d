#pragma once
/// Elements that are simple functions of their row-major position in the global tensor.

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <shardtype/kernels/reducers.hpp>

namespace shardtype::kernels {

/// start + n step; computed in double for float, in their own type for integers.
template <class T>
struct Stepped {
  wide_t<T> start, step;

  KOKKOS_FUNCTION T operator()(std::int64_t n) const {
    if constexpr (std::is_integral_v<T>) {
      // unsigned, so that nothing overflows
      return static_cast<T>(static_cast<std::uint64_t>(start) +
                            static_cast<std::uint64_t>(n) * static_cast<std::uint64_t>(step));
    } else {
      return static_cast<T>(start + static_cast<wide_t<T>>(n) * step);
    }
  }
};

/// `count` evenly spaced numbers, of which the last is exactly `stop`. Integers are rounded down.
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

/// One on the diagonal that begins at column `diagonal` of row 0, in a matrix of `columns` columns;
/// else zero.
template <class T>
struct OnDiagonal {
  std::int64_t columns, diagonal;

  KOKKOS_FUNCTION T operator()(std::int64_t n) const {
    return n % columns - n / columns == diagonal ? T(1) : T(0);
  }
};

}  // namespace shardtype::kernels
