#pragma once
/// Plans of reductions: the local reduction, and the reshard of its result.

#include <cstdint>
#include <string_view>

#include <shardtype/plan/local_plan.hpp>

namespace shardtype::planning {

/// The plan of a reduction that communicates nothing. Flops: one per element read. `total_bytes`:
/// size of an accumulator; there is one per element of the result.
constexpr Plan reduction_plan(std::string_view name, CallSizing const& c,
                              std::int64_t total_bytes) {
  Plan p = plan_of_call(name, c);
  append_compute(p, {c.elements(0), mul_sat(c.result_elements(), total_bytes)});
  return p;
}

/// reduction_plan, evaluated in this unit.
constexpr Plan reduction_plan_here(std::string_view name, CallSizing const& c,
                                   std::int64_t total_bytes, Plan const& moves,
                                   std::int64_t partial_bytes, bool finishes) {
  Plan p = plan_of_call(name, c);
  Slot const slot = finishes ? Slot::b : Slot::result;
  if (finishes) p.push_own({slot, c.common.extents, partial_bytes});
  Spec const& met = moves.operands[0];
  std::int64_t const partials = largest_elements(met, c.common.extents, c.common.sizes);
  p.local_flops = c.elements(0);
  p.workspace = mul_sat(partials, total_bytes);
  p.push(local_step(Move::compute, slot, met, met));
  for (Step move : moves) {
    move.slot = slot;
    p.push(move);
  }
  if (finishes) p.push(local_step(Move::finish, Slot::result, p.result, p.result));
  return p;
}

/// The plan of a reduction whose partial results, of `partial_bytes` each, are resharded by
/// `moves`. If they are accumulators, the final results are computed from them at the end.
constexpr Plan reduction_plan(std::string_view name, CallSizing const& c, std::int64_t total_bytes,
                              Plan const& moves, std::int64_t partial_bytes, bool finishes) {
  if (!core::compiled_part || __builtin_is_constant_evaluated()) {
    return reduction_plan_here(name, c, total_bytes, moves, partial_bytes, finishes);
  } else {
    return at_run_time::reduction_plan(name, c, total_bytes, moves, partial_bytes, finishes);
  }
}

}  // namespace shardtype::planning
