#pragma once
/// The plan of a reshard: the cheapest path of single steps, and a transpose if the order of dims
/// changes. The same function runs at compile time and, for run-time sizes, at the first call of
/// each shape.

#include <cstdint>

#include <shardtype/plan/at_run_time.hpp>
#include <shardtype/plan/far_reshard.hpp>

namespace shardtype::planning {

/// `s` with its dims in the order of `like`, which has the same labels.
constexpr Spec in_order_of(Spec const& s, Spec const& like) {
  Spec out = s;
  for (int d = 0; d < like.rank; ++d) out.dims[d] = s.dims[s.find(like.dims[d].label)];
  return out;
}

constexpr bool same_order(Spec const& a, Spec const& b) {
  for (int d = 0; d < a.rank; ++d)
    if (a.dims[d].label != b.dims[d].label) return false;
  return true;
}

/// append_reshard, evaluated in this unit.
constexpr void append_reshard_here(Plan& plan, Slot slot, Spec const& from_spec,
                                   Spec const& to_spec, Machine const& m, std::int64_t time,
                                   AxisSet spare) {
  Spec from = without_reduced(from_spec);
  Spec const to = without_reduced(to_spec);
  Sizing const& z = plan.sizing;
  auto transpose = [&](Spec const& before, Spec const& like) {
    Spec const after = in_order_of(before, like);
    plan.push(local_step(Move::transpose, slot, before, after));
    return after;
  };
  bool const reorder = !same_order(from, to);
  bool const first = reorder && largest_elements(from, z.extents, z.sizes) <=
                                    largest_elements(to, z.extents, z.sizes);
  if (first) from = transpose(from, to);
  Spec const target = in_order_of(to, from);
  if (searchable(from, target)) {
    Search search(from, target, z, m, spare);
    Path const path = search.run(time >= 0 ? time : bounds(from, target, z, m).most);
    if (path.size > 0) {
      plan.need_room(path.size);
      search.spell(plan.steps, plan.size, path.size, slot);
      plan.size += path.size;
    }
  } else {
    FarReshard(from, target, z, m, &plan, slot);
  }
  if (reorder && !first) transpose(target, to);
}

/// Appends the steps that take the value in `slot` from `from_spec` to `to_spec` to `plan`. If the
/// order of dims changes, a local transpose runs where the block is smaller. Reduced axes count as
/// replicated in the steps.
///
/// Exact over the axes that either sharding splits or is unreduced over, and the `spare` axes: no
/// sequence of steps over these is cheaper, so no detour over a third sharding on them pays
/// (tests/unit/reshard_proofs.cpp). The types do not know other axes of the mesh. A detour over
/// such an axis may pay, because a value that is replicated there can be reduced or gathered in
/// parts. With more than `searched_axes` axes, FarReshard finds the path: it is exact over the axes
/// whose position or state differs, or exact only in each part, and it ignores the spare axes.
/// `time`: the path's time in picoseconds if known, which shortens the search. The tensor must be
/// weighable with the plan's sizing.
constexpr void append_reshard(Plan& plan, Slot slot, Spec const& from_spec, Spec const& to_spec,
                              Machine const& m = {}, std::int64_t time = -1, AxisSet spare = {}) {
  if (!core::compiled_part || __builtin_is_constant_evaluated()) {
    append_reshard_here(plan, slot, from_spec, to_spec, m, time, spare);
  } else {
    at_run_time::append_reshard(plan, slot, from_spec, to_spec, m, time, spare);
  }
}

/// The plan of `reshard<to>(from)`. `spare` as in append_reshard.
constexpr Plan reshard_plan(Spec const& from, Spec const& to, Sizing const& z,
                            Machine const& m = {}, AxisSet spare = {}) {
  Plan plan;
  plan.of = PlanOf::reshard;
  plan.sizing = weighable(from, z) ? z : with_short_dims(z);
  plan.push_operand(from);
  plan.result = to;
  append_reshard(plan, Slot::a, from, to, m, -1, spare);
  plan.sizing = z;
  return plan;
}

/// The plan of `all_reduce` over one axis, `to` being `from` without it: one collective. It is
/// reshard_plan's unless a dim has fewer rows than ranks (tests/unit/reshard_proofs.cpp), so
/// nothing is searched.
constexpr Plan all_reduce_plan(Spec const& from, Spec const& to, Sizing const& z) {
  Plan plan;
  plan.of = PlanOf::reshard;
  plan.sizing = z;
  plan.push_operand(from);
  plan.result = to;
  Step s = shared_step(Move::reduce, Slot::a, {}, without_reduced(from), without_reduced(to));
  s.axes = group_of(s);
  plan.push(s);
  return plan;
}

}  // namespace shardtype::planning
