// Values of operands on simulated ranks: arbitrary summands where a tensor is unreduced, equal
// values on the ranks that have copies.
#pragma once

#include <cstdint>
#include <vector>

#include <shardtype/core/block.hpp>

#include "simulate.hpp"

namespace simulate {

// The value on rank `c` of the element at `at` of operand `which`.
inline std::int64_t partial_value(Spec const& s, int which, Coords const& c, Extents const& at) {
  std::uint64_t h = 1469598103934665603U + static_cast<std::uint64_t>(which);
  auto mix = [&](std::int64_t v) { h = (h ^ static_cast<std::uint64_t>(v + 7)) * 1099511628211U; };
  for (int d = 0; d < s.rank; ++d) mix(s.dims[d].label * 100 + at[s.dims[d].label]);
  for (int x = 0; x < max_axes; ++x)
    if (s.unreduced.contains(x)) mix(1000 + 10 * x + c[x]);
  return static_cast<std::int64_t>((h >> 20) % 13) - 6;
}

// All coordinates that differ from `c` only along the axes of `set`.
inline std::vector<Coords> group(AxisSet set, Sizes const& sizes, Coords const& c) {
  Spec pending;
  pending.unreduced = set;
  AxisList const axes = unreduced_axes(pending);
  std::vector<Coords> out;
  for (std::int64_t g = 0; g < sizes.product(axes); ++g) out.push_back(member(axes, sizes, c, g));
  return out;
}

// The reduced value of the element.
inline std::int64_t whole_value(Spec const& s, int which, Sizes const& sizes, Extents const& at) {
  std::int64_t value = 0;
  bool first = true;
  for (Coords const& c : group(s.unreduced, sizes, {})) {
    std::int64_t const part = partial_value(s, which, c, at);
    value = first ? part : joined(s.kind, value, part);
    first = false;
  }
  return value;
}

}  // namespace simulate
