#pragma once
/// Shardings encoded as numbers, for template arguments: reshards that differ only in names share
/// one compile-time plan.

#include <cstdint>

#include <shardtype/core/spec.hpp>

namespace shardtype::planning {

/// The sharding as a number, or 0 if it has no encoding: block-cyclic dims, or a Local. From the
/// lowest bits: rank + 1, kind, unreduced and reduced axes, 4 bits each; 6 bits for each axis, 0 or
/// 1 + dim * max_axes + index in the dim's list; 3 bits for each dim's label.
constexpr std::uint64_t number_of(Spec const& s) {
  if (s.local || s.varying.bits != 0) return 0;
  std::uint64_t number = static_cast<std::uint64_t>(s.rank) + 1;
  number |= static_cast<std::uint64_t>(s.kind) << 4;
  number |= static_cast<std::uint64_t>(s.unreduced.bits) << 8;
  number |= static_cast<std::uint64_t>(s.reduced.bits) << 12;
  for (int d = 0; d < s.rank; ++d) {
    AxisList const& axes = s.dims[d].axes;
    if (axes.cyclic != 0) return 0;
    for (int k = 0; k < axes.size; ++k)
      number |= static_cast<std::uint64_t>(1 + d * max_axes + k) << (16 + 6 * axes.at[k]);
    number |= static_cast<std::uint64_t>(s.dims[d].label) << (40 + 3 * d);
  }
  return number;
}

/// The sharding with this number.
constexpr Spec spec_from(std::uint64_t number) {
  Spec s;
  s.rank = static_cast<std::int8_t>((number & 15U) - 1);
  s.kind = static_cast<ReduceKind>((number >> 4) & 15U);
  s.unreduced.bits = (number >> 8) & 15U;
  s.reduced.bits = (number >> 12) & 15U;
  for (int d = 0; d < s.rank; ++d)
    s.dims[d].label = static_cast<std::int8_t>((number >> (40 + 3 * d)) & 7U);
  for (int x = 0; x < max_axes; ++x) {
    int const at = static_cast<int>((number >> (16 + 6 * x)) & 63U) - 1;
    if (at < 0) continue;
    AxisList& list = s.dims[at / max_axes].axes;
    list.at[at % max_axes] = static_cast<std::int8_t>(x);
    ++list.size;
  }
  return s;
}

}  // namespace shardtype::planning
