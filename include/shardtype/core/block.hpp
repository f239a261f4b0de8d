#pragma once
/// Which part of an extent a rank holds. Blocks nest (see `Dim`).

#include <algorithm>
#include <cstdint>

#include <shardtype/core/spec.hpp>

namespace shardtype {

/// Half-open range of global indices, [begin, end).
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  constexpr std::int64_t size() const { return end - begin; }
  friend constexpr bool operator==(Range const&, Range const&) = default;
};

/// The common part of two ranges; empty ranges have size 0.
constexpr Range intersect(Range a, Range b) {
  std::int64_t const begin = std::max(a.begin, b.begin);
  return {begin, std::max(begin, std::min(a.end, b.end))};
}

/// ceil(n / p) without overflow.
constexpr std::int64_t ceil_div(std::int64_t n, std::int64_t p) { return n / p + (n % p != 0); }

/// The `k`-th of `p` pieces of `whole`: ceil(size / p) long, the last ones short or empty.
constexpr Range piece(Range whole, std::int64_t k, std::int64_t p) {
  std::int64_t const length = ceil_div(whole.size(), p);
  std::int64_t const begin = std::min(whole.end, whole.begin + k * length);
  return {begin, std::min(whole.end, begin + length)};
}

/// The piece of `whole` held at `coords` when `axes` split it, major to minor.
constexpr Range block(Range whole, AxisList const& axes, Sizes const& sizes, Coords const& coords) {
  for (int k = 0; k < axes.size; ++k) whole = piece(whole, coords[axes[k]], sizes[axes[k]]);
  return whole;
}

/// Length of the largest block (that of coordinates 0).
constexpr std::int64_t largest_block(std::int64_t extent, AxisList const& axes,
                                     Sizes const& sizes) {
  for (int k = 0; k < axes.size; ++k) extent = ceil_div(extent, sizes[axes[k]]);
  return extent;
}

/// Coordinates along `axes` of the `index`-th member of their group, first axis major; the other
/// coordinates are those of `self`.
constexpr Coords member(AxisList const& axes, Sizes const& sizes, Coords self, std::int64_t index) {
  for (int k = axes.size - 1; k >= 0; --k) {
    self.at[axes[k]] = index % sizes[axes[k]];
    index /= sizes[axes[k]];
  }
  return self;
}

/// Elements of the local block at `coords`.
constexpr std::int64_t local_elements(Spec const& s, Extents const& extents, Sizes const& sizes,
                                      Coords const& coords) {
  std::int64_t n = 1;
  for (int d = 0; d < s.rank; ++d)
    n *= block({0, extents[s.dims[d].label]}, s.dims[d].axes, sizes, coords).size();
  return n;
}

/// Elements of the largest local block.
constexpr std::int64_t largest_elements(Spec const& s, Extents const& extents, Sizes const& sizes) {
  std::int64_t n = 1;
  for (int d = 0; d < s.rank; ++d)
    n *= largest_block(extents[s.dims[d].label], s.dims[d].axes, sizes);
  return n;
}

}  // namespace shardtype
