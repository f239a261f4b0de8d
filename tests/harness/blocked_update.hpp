// An operation with the structure of a blocked factorization: n rounds. Each round broadcasts a
// panel of columns and a panel of rows, and updates the trailing block, which shrinks from round to
// round, in place. The operation has a plan and no run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>

#include <shardtype/types.hpp>

namespace blocked {

using namespace shardtype;
using namespace shardtype::planning;

// The operand is a square matrix with two block-cyclic dims. The steps of a round: broadcast the
// panel of columns along its row of the mesh, broadcast the panel of rows along its column, update
// the trailing block.
constexpr void in_round(Step const& s, planning::Round& r) {
  std::int64_t const n = r.sizing.extents[s.before.dims[0].label];
  std::int64_t const begin = r.number * r.block;
  std::int64_t const width = std::min(r.block, n - begin);
  std::int64_t const trailing = n - begin - width;
  std::int64_t& rows = r.sizing.extents.at[s.before.dims[0].label];
  std::int64_t& columns = r.sizing.extents.at[s.before.dims[1].label];
  rows = r.step == 1 ? width : trailing;
  columns = r.step == 0 ? width : trailing;
  r.runs = trailing > 0;
  for (int d = 0; d < 2; ++d)
    if (AxisList const& axes = s.before.dims[d].axes; axes.size > 0)
      r.first.at[axes[0]] = (r.number + 1) % r.sizing.sizes[axes[0]];
  if (s.move == Move::broadcast)  // from the ranks with block `number`
    r.root = static_cast<int>(r.number % r.sizing.sizes.product(s.axes));
  if (s.move != Move::compute) return;
  r.work.shares = true;
  std::int64_t const elements = largest_elements(s.after, r.sizing.extents, r.sizing.sizes);
  r.work.flops = 2 * width * elements;
  r.work.product = static_cast<double>(r.work.flops);
}

template <class I, bool closed = true, LookAhead ahead = LookAhead{}>
struct Update {
  using operation = Update;
  using from = detail::Bare<I>;
  static constexpr std::string_view name = "blocked_update";
  static constexpr bool communicates = true;
  static constexpr Verdict rule(rules::Question const& q) { return accept(q.a()); }
  constexpr void steps(Plan& p, planning::CallSizing const& c, int) const {
    planning::append_compute(p, {});  // the result, at first a copy of the operand
    Spec const& a = p.operands[0];
    Step panel;
    panel.move = Move::broadcast;
    for (int d = 0; d < 2; ++d) {
      panel.slot = operand_slot(1 + d);
      panel.axes = a.dims[1 - d].axes;
      panel.axes.cyclic = 0;
      panel.before = a;
      panel.before.dims[1 - d].axes = {};
      panel.after = panel.before;
      p.push(panel);
    }
    p.push(local_step(Move::compute, Slot::result, p.result, p.result));
    std::int64_t const n = c.common.extents[a.dims[0].label];
    std::int64_t const block = a.dims[0].axes.cyclic;
    // the trailing block shrinks by as many rows in each period of the ranks
    std::int64_t const rows = c.common.sizes.product(a.dims[0].axes);
    std::int64_t const columns = c.common.sizes.product(a.dims[1].axes);
    p.repeat(3, ceil_div(n, block), block, in_round, closed ? std::lcm(rows, columns) : 0, ahead);
  }
};

}  // namespace blocked
