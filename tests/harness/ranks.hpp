// Values on simulated ranks: functions that create, read and communicate them.
#pragma once

#include <cstdint>

#include <shardtype/plan/reshard_plan.hpp>

#include "harness/program_values.hpp"

namespace programs {

class Ranks {
 public:
  explicit Ranks(planning::Sizing const& z) : z_(z), ranks_(simulate::rank_count(z.sizes)) {}
  bool sound = true;  // becomes false if a rank lacks an element that it needs

 protected:
  template <class F>
  Distributed make(Spec const& s, F value) {
    return simulate::made(s, z_, value);
  }

  // The element on rank `r` at `at`.
  Int take(Distributed const& v, std::size_t r, Extents const& at) {
    auto const got = v.held[r][static_cast<std::size_t>(simulate::place(v.spec, z_.extents, at))];
    if (!got) sound = false;
    return got.value_or(0);
  }
  bool has(Distributed const& v, std::size_t r, Extents const& at) const {
    return v.held[r][static_cast<std::size_t>(simulate::place(v.spec, z_.extents, at))].has_value();
  }
  // The element at `at` from the rank along these axes that has it.
  Int from_any(Distributed const& v, Coords const& me, core::AxisList const& along,
               Extents const& at) {
    for (Int g = 0; g < z_.sizes.product(along); ++g) {
      Coords const other = member(along, z_.sizes, me, g);
      if (simulate::holds(v.spec, z_, other, at))
        return take(v, static_cast<std::size_t>(simulate::rank_of(z_.sizes, other)), at);
    }
    sound = false;
    return 0;
  }
  // The element at `at` from one of the ranks that have it; `turn` selects the rank.
  Int from_holder(Distributed const& v, Int turn, Extents const& at) {
    for (Int k = 0; k < ranks_; ++k) {
      Int const r = (turn + k) % ranks_;
      if (simulate::holds(v.spec, z_, simulate::coords_of(z_.sizes, r), at))
        return take(v, static_cast<std::size_t>(r), at);
    }
    sound = false;
    return 0;
  }
  // In plans, reduced axes are replicated.
  static Spec without_reduced(Spec s) {
    s.reduced = {};
    return s;
  }
  Distributed arrived(Distributed v, Spec const& at) {
    if (!(without_reduced(v.spec) == without_reduced(at))) sound = false;
    v.spec = at;
    return v;
  }
  Distributed communicate(Distributed v, Spec const& to) {
    Plan const plan = planning::reshard_plan(v.spec, to, z_);
    v.spec.reduced = {};
    for (planning::Step const& s : plan) sound = sound && simulate::apply(s, z_, v);
    return arrived(v, to);
  }

  planning::Sizing z_;
  Int ranks_;
};

}  // namespace programs
