#pragma once
/// Blocks of a value that travel around a ring: from rank to rank along the one axis that splits a
/// dim.

#include <cstdint>

#include <shardtype/plan/local_plan.hpp>

namespace shardtype::planning {

/// Round n of a ring: the rank at coordinate x along its axis sends the block of coordinate x - n.
constexpr void ring_round(Step const& s, Round& r) { r.first.at[s.axes[0]] = r.number; }

/// Appends `rounds` permutes of the blocks of a value of sharding `s`, which travel along the axis
/// of its dim `d`. `own`: its sizes. The value is in `slot`, which no operand uses.
constexpr void append_ring(Plan& p, Slot slot, Spec const& s, OwnSizing own, int d,
                           std::int64_t rounds, Sizes const& sizes) {
  DimSpec const& dim = s.dims[d];
  if (dim.axes.size == 0) return;
  own.slot = slot;
  own.of_operand = true;
  p.push_own(own);
  AxisList axes = dim.axes;
  axes.cyclic = 0;
  p.push(shared_step(Move::send_block, slot, axes, s, s));
  std::int64_t const unit = sizes.product(dim.axes) * (dim.axes.cyclic == 0 ? 1 : dim.axes.cyclic);
  bool const even = own.extents[dim.label] % unit == 0;
  p.repeat(1, rounds, 0, even ? nullptr : &ring_round, even ? 1 : 0);
}

}  // namespace shardtype::planning
