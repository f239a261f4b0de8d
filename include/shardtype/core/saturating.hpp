#pragma once
/// Arithmetic of counts that may exceed 63 bits: elements, bytes, operations, picoseconds.

#include <cstdint>

#include <shardtype/core/limits.hpp>

namespace shardtype::core {

/// The value that represents every larger count. The sum of two of them fits into 63 bits.
inline constexpr std::int64_t saturated = (std::int64_t{1} << 62) - 1;

/// a + b and a * b of non-negative numbers, at most `saturated`.
constexpr std::int64_t add_sat(std::int64_t a, std::int64_t b) {
  return a > saturated - b ? saturated : a + b;
}
constexpr std::int64_t mul_sat(std::int64_t a, std::int64_t b) {
  return a != 0 && b > saturated / a ? saturated : a * b;
}

/// Whether a tensor can have dims of these extents: at most `max_elements` elements. A dim of
/// extent 0 does not excuse the others, because strides are computed from them. Dynamic extents are
/// ignored.
constexpr bool countable(std::int64_t const* extents, int rank) {
  std::int64_t n = 1;
  for (int d = 0; d < rank; ++d)
    if (extents[d] > 0) n = mul_sat(n, extents[d]);
  return n <= max_elements;
}

}  // namespace shardtype::core
