// The inputs of programs, and elementwise computations of instructions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/programs.hpp"
#include "harness/simulate.hpp"

namespace programs {

using simulate::Distributed;

inline core::AxisList owed_axes(Spec const& s) {
  core::AxisList out;
  for (int x = 0; x < core::max_axes; ++x)
    if (s.unreduced.contains(x)) out.push(x);
  return out;
}

// The local value on rank `c` of an element of input `which`: an arbitrary summand if the tensor is
// unreduced, equal on ranks with copies. Doubles are powers of two or their negatives; the summands
// of a double are not.
inline std::int64_t held(Program const& p, int which, core::Sizes const& sizes, Coords const& c,
                         Extents const& at) {
  Spec const& s = p.input[which];
  std::uint64_t h = 1469598103934665603U + static_cast<std::uint64_t>(which);
  auto mix = [&](std::int64_t v) { h = (h ^ static_cast<std::uint64_t>(v + 7)) * 1099511628211U; };
  for (int l = 0; l < labels; ++l)
    if (s.find(l) >= 0) mix(l * 100 + at[l]);
  bool const sums_to_it = p.input_element[which] == Element::floating &&
                          s.kind == core::ReduceKind::sum && !s.unreduced.empty();
  bool first = true;
  for (int x = 0; x < core::max_axes; ++x) {
    if (!s.unreduced.contains(x)) continue;
    if (!sums_to_it) mix(1000 + 10 * x + c[x]);
    first = first && c[x] == 0;
  }
  h >>= 20;
  if (p.input_element[which] == Element::integer) return static_cast<std::int64_t>(h % 7) - 3;
  if (p.input_element[which] == Element::boolean) return static_cast<std::int64_t>(h % 2);
  std::int64_t const size = std::int64_t{1} << (h % 3);
  std::int64_t const whole = h / 3 % 2 == 0 ? size : -size;
  if (!sums_to_it) return whole;
  return first ? whole - 3 * (sizes.product(owed_axes(s)) - 1) : 3;
}
inline Distributed input(Program const& p, int which, planning::Sizing const& z) {
  Spec const& s = p.input[which];
  Distributed out{s, {}};
  std::int64_t const n = simulate::volume(s, z.extents);
  for (std::int64_t r = 0; r < simulate::rank_count(z.sizes); ++r) {
    Coords const c = simulate::coords_of(z.sizes, r);
    auto& mine = out.held.emplace_back(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k) {
      Extents const at = simulate::indices(s, z.extents, k);
      if (simulate::holds(s, z, c, at))
        mine[static_cast<std::size_t>(k)] = held(p, which, z.sizes, c, at);
    }
  }
  return out;
}
// The value that the input represents, as a tensor on a single rank.
inline Distributed meant_input(Program const& p, int which, planning::Sizing const& z) {
  Spec const& s = p.input[which];
  Distributed out{s, {{}}};
  core::AxisList const owed = owed_axes(s);
  for (std::int64_t k = 0; k < simulate::volume(s, z.extents); ++k) {
    Extents const at = simulate::indices(s, z.extents, k);
    std::int64_t value = 0;
    for (std::int64_t g = 0; g < z.sizes.product(owed); ++g) {
      std::int64_t const part = held(p, which, z.sizes, member(owed, z.sizes, {}, g), at);
      value = g == 0 ? part : simulate::joined(s.kind, value, part);
    }
    out.held[0].push_back(value);
  }
  return out;
}

// Whether `v` represents the values of `dense` (one rank): the parts of all ranks, reduced over the
// unreduced axes.
inline bool stands_for(Distributed const& v, Distributed const& dense, planning::Sizing const& z) {
  core::AxisList const owed = owed_axes(v.spec);
  std::int64_t const n = simulate::volume(v.spec, z.extents);
  if (static_cast<std::int64_t>(dense.held[0].size()) != n) return false;
  for (std::int64_t r = 0; r < simulate::rank_count(z.sizes); ++r) {
    Coords const c = simulate::coords_of(z.sizes, r);
    for (std::int64_t k = 0; k < n; ++k) {
      if (!simulate::holds(v.spec, z, c, simulate::indices(v.spec, z.extents, k))) continue;
      std::optional<std::int64_t> value;
      for (std::int64_t g = 0; g < z.sizes.product(owed); ++g) {
        auto const other =
            static_cast<std::size_t>(simulate::rank_of(z.sizes, member(owed, z.sizes, c, g)));
        auto const theirs = v.held[other][static_cast<std::size_t>(k)];
        if (!theirs) return false;
        value = value ? simulate::joined(v.spec.kind, *value, *theirs) : *theirs;
      }
      if (value != dense.held[0][static_cast<std::size_t>(k)]) return false;
    }
  }
  return true;
}

}  // namespace programs
