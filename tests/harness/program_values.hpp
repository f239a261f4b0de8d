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

using simulate::unreduced_axes;

// The local value on rank `c` of an element of input `which`: an arbitrary summand if the tensor is
// unreduced, equal on ranks with copies. Doubles are powers of two or their negatives; the summands
// of a double are not.
inline Int held(Program const& p, int which, core::Sizes const& sizes, Coords const& c,
                Extents const& at) {
  Spec const& s = p.input[which];
  std::uint64_t h = 1469598103934665603U + static_cast<std::uint64_t>(which);
  auto mix = [&](Int v) { h = (h ^ static_cast<std::uint64_t>(v + 7)) * 1099511628211U; };
  for (int l = 0; l < labels; ++l)
    if (s.find(l) >= 0) mix(l * 100 + at[l]);
  bool const sums_to_it = p.input_element[which] == Element::floating &&
                          s.kind == core::ReduceKind::sum && !s.unreduced.empty();
  for (int x = 0; x < core::max_axes; ++x)
    if (s.unreduced.contains(x) && !sums_to_it) mix(1000 + 10 * x + c[x]);
  h >>= 20;
  if (p.input_element[which] == Element::integer) return static_cast<Int>(h % 7) - 3;
  if (p.input_element[which] == Element::boolean) return static_cast<Int>(h % 2);
  Int const size = Int{1} << (h % 3);
  Int const whole = h / 3 % 2 == 0 ? size : -size;
  return sums_to_it ? simulate::summand(s, sizes, c, whole) : whole;
}
inline Distributed input(Program const& p, int which, planning::Sizing const& z) {
  return simulate::made(p.input[which], z, [&](Coords const& c, std::size_t, Extents const& at) {
    return held(p, which, z.sizes, c, at);
  });
}
// The value that the input represents, as a tensor on a single rank.
inline Distributed meant_input(Program const& p, int which, planning::Sizing const& z) {
  Spec const& s = p.input[which];
  Distributed out{s, {{}}};
  core::AxisList const unreduced = unreduced_axes(s);
  for (Int k = 0; k < simulate::volume(s, z.extents); ++k) {
    Extents const at = simulate::indices(s, z.extents, k);
    Int value = 0;
    for (Int g = 0; g < z.sizes.product(unreduced); ++g) {
      Int const part = held(p, which, z.sizes, member(unreduced, z.sizes, {}, g), at);
      value = g == 0 ? part : simulate::joined(s.kind, value, part);
    }
    out.held[0].push_back(value);
  }
  return out;
}

// Whether `v` represents the values of `dense` (one rank): the parts of all ranks, reduced over the
// unreduced axes.
inline bool stands_for(Distributed const& v, Distributed const& dense, planning::Sizing const& z) {
  return static_cast<Int>(dense.held[0].size()) == simulate::volume(v.spec, z.extents) &&
         simulate::equals(v, z, [&](Extents const& at) {
           return dense.held[0][static_cast<std::size_t>(simulate::place(v.spec, z.extents, at))];
         });
}

}  // namespace programs
