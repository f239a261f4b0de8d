#pragma once
/// Shardings encoded as numbers, for template arguments: reshards that differ only in names share
/// one compile-time plan.

#include <cstdint>

#include <shardtype/core/spec.hpp>

namespace shardtype::planning {

/// The states of one axis: replicated, unreduced, reduced, or its position on a dim.
inline constexpr std::uint64_t axis_states = 3 + max_dims * max_axes;
/// The values of a spec's rank and kind together.
inline constexpr std::uint64_t rank_states = 3 * (max_dims + 2);

/// The sharding as a number, or 0 if it has no encoding: block-cyclic dims, or a
/// Local. A digit for each axis, of base
/// `axis_states`; then rank + 1 and kind; then 3 bits for each dim's label.
constexpr std::uint64_t number_of(Spec const& s) {
  if (s.local) return 0;
  std::uint64_t state[max_axes]{};
  std::uint64_t labels = 0;
  for (int d = s.rank - 1; d >= 0; --d) {
    AxisList const& axes = s.dims[d].axes;
    if (axes.cyclic != 0) return 0;
    for (int k = 0; k < axes.size; ++k)
      state[axes.at[k]] = 3 + static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(max_axes) +
                          static_cast<std::uint64_t>(k);
    labels = labels * 8 + static_cast<std::uint64_t>(s.dims[d].label);
  }
  std::uint64_t number = labels * rank_states + (static_cast<std::uint64_t>(s.rank) + 1) * 3 +
                         static_cast<std::uint64_t>(s.kind);
  for (int x = max_axes - 1; x >= 0; --x) {
    if (s.unreduced.contains(x)) state[x] = 1;
    if (s.reduced.contains(x)) state[x] = 2;
    number = number * axis_states + state[x];
  }
  return number;
}

/// The sharding with this number.
constexpr Spec spec_from(std::uint64_t number) {
  Spec s;
  for (int x = 0; x < max_axes; ++x, number /= axis_states) {
    int const state = static_cast<int>(number % axis_states);
    if (state == 1) s.unreduced.insert(x);
    if (state == 2) s.reduced.insert(x);
    if (state < 3) continue;
    AxisList& list = s.dims[(state - 3) / max_axes].axes;
    list.at[(state - 3) % max_axes] = static_cast<std::int8_t>(x);
    ++list.size;
  }
  s.kind = static_cast<ReduceKind>(number % 3);
  s.rank = static_cast<std::int8_t>(number % rank_states / 3 - 1);
  number /= rank_states;
  for (int d = 0; d < s.rank; ++d, number /= 8)
    s.dims[d].label = static_cast<std::int8_t>(number % 8);
  return s;
}

}  // namespace shardtype::planning
