// Random choices that also work at compile time, and random shardings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "harness/programs.hpp"

namespace programs {

class Draw {
 public:
  constexpr explicit Draw(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {
    below(2);
    below(2);
  }
  constexpr int below(int n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<int>((state_ >> 11) % static_cast<std::uint64_t>(n));
  }
  constexpr bool one_in(int n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

// A tensor of some of the labels in any order; each axis splits a dim, is unreduced, reduced or
// unused.
constexpr Spec random_spec(Draw& draw, rules::Labels const& of, bool unreduced) {
  Spec s;
  rules::Labels left = of;
  while (left.size > 0) {
    int const k = draw.below(left.size);
    s.add(left.at[k]);
    left.at[k] = left.at[--left.size];
  }
  int const first = draw.below(axes);
  for (int k = 0; k < axes; ++k) {
    int const x = (first + k) % axes;
    int const where = draw.below(s.rank + 3);
    if (where < s.rank) {
      s.dims[where].axes.push(x);
    } else if (where == s.rank && unreduced) {
      s.unreduced.insert(x);
    } else if (where == s.rank + 1 && draw.one_in(2)) {
      s.reduced.insert(x);
    }
  }
  if (!s.unreduced.empty())
    s.kind = static_cast<core::ReduceKind>(draw.one_in(2) ? 0 : draw.below(3));
  return s;
}
constexpr rules::Labels some_labels(Draw& draw, rules::Labels const& of) {
  rules::Labels out;
  for (int k = 0; k < of.size; ++k)
    if (!draw.one_in(3)) out.push(of.at[k]);
  return out;
}
// The same tensor with a different sharding in some respects, as a second operand often needs.
constexpr Spec varied(Draw& draw, Spec s) {
  if (draw.one_in(3) && s.rank > 0) s.dims[draw.below(s.rank)].axes = {};
  if (draw.one_in(4)) s.unreduced = {};
  if (draw.one_in(4)) s.reduced = {};
  if (draw.one_in(4) && s.rank > 1) --s.rank;
  if (draw.one_in(3) && s.rank > 1) std::swap(s.dims[0], s.dims[1]);
  return s;
}

// Extents for a program, including 0 and 1; not 0 for dims over which a maximum is taken.
inline Extents drawn_extents(Draw& draw, bool const (&needs_elements)[labels]) {
  Extents out;
  for (int l = 0; l < labels; ++l) {
    out.at[l] = draw.one_in(9) ? 0 : 1 + draw.below(static_cast<int>(most_extent));
    if (needs_elements[l]) out.at[l] = std::max<Int>(1, out[l]);
  }
  return out;
}

}  // namespace programs
