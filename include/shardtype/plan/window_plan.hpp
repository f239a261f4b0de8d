#pragma once
/// The steps of operations along a dim that may be split: neighbor exchanges, and the totals of
/// running values. Plans list them, and the operations run them (execute/window.hpp).

#include <cstdint>

#include <shardtype/plan/local_plan.hpp>

namespace shardtype::planning {

/// The exchange of the rows of window `w` along dim `d` of a tensor of sharding `a`.
constexpr Step neighbor_step(Spec const& a, int d, Window const& w) {
  Step s = shared_step(Move::window, Slot::a, a.dims[d].axes, a, a, d, d);
  s.window = w;
  return s;
}
constexpr void append_neighbor(Plan& p, int d, Window const& w) {
  Step const s = neighbor_step(p.operands[0], d, w);
  if (s.axes.size > 0) p.push(s);
}

/// The exchange of totals along dim `d`: one row of each rank, so that dim comes first. `extents`,
/// those of the operand, become those of all totals.
constexpr Step totals_step(Spec const& a, int d, Extents& extents, Sizes const& sizes) {
  AxisList const& axes = a.dims[d].axes;
  extents.at[a.dims[d].label] = sizes.product(axes);
  Spec before = a;
  for (int k = d; k > 0; --k) before.dims[k] = a.dims[k - 1];
  before.dims[0] = a.dims[d];
  Spec after = before;
  after.dims[0].axes = {};
  return shared_step(Move::gather, Slot::b, axes, before, after, 0);
}
/// `bytes`: of a total; 0: those of an element of the operand.
constexpr void append_totals(Plan& p, int d, CallSizing const& c, std::int64_t bytes = 0) {
  OwnSizing own = c.given[0];
  if (bytes > 0) own.element_bytes = bytes;
  Step const s = totals_step(p.operands[0], d, own.extents, c.common.sizes);
  own.slot = s.slot;
  if (s.axes.size == 0) return;
  p.push_own(own);
  p.push(s);
}

}  // namespace shardtype::planning
