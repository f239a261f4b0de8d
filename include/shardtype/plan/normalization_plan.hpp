#pragma once
/// Plans of operations that combine each element with a reduction of its row: softmax.

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <shardtype/plan/named_plan.hpp>
#include <shardtype/rules/reduction.hpp>

namespace shardtype::planning {

/// The shardings in which a normalization computes: its operand and result, and the totals of rows,
/// one per element of the kept dims.
struct NormalizationPlan {
  Spec made{};    ///< of operand and result before the result is resharded
  Spec totals{};  ///< unreduced over the axes that split rows
  Spec reduced{};
};

/// Slices the operand like the result where that is free, but not along its rows, because that
/// would split them.
constexpr NormalizationPlan normalization_plan(Spec const& s, rules::Labels const& kept,
                                               Spec const& wanted) {
  Spec rows;
  for (int d = 0; d < wanted.rank; ++d)
    if (kept.contains(wanted.dims[d].label)) rows.add(wanted.dims[d].label, wanted.dims[d].axes);
  NormalizationPlan out;
  out.made = sliced_as(s, rows);
  out.totals = out.reduced = rules::reduction(out.made, kept, rules::ReductionKind::sum).result;
  out.reduced.unreduced = {};
  return out;
}

/// normalization_steps, evaluated in this unit.
constexpr Plan normalization_steps_here(std::string_view name, Spec const& given,
                                        NormalizationPlan const& by, Spec const& wanted,
                                        Sizing const& z, std::int64_t total_bytes,
                                        Machine const& m) {
  std::int64_t const bytes[] = {z.element_bytes, z.element_bytes};
  LabelValues const values(z, &given, 1, wanted, bytes);
  Plan p = plan_of_call(name, values.call);
  append_moves(p, Slot::a, given, by.made, m);
  std::int64_t const totals = mul_sat(largest_elements(by.totals, z.extents, z.sizes), total_bytes);
  std::int64_t const elements = largest_elements(by.made, z.extents, z.sizes);
  // summing rows needs room for a second set of totals, before the result exists
  std::int64_t workspace =
      std::max(totals, add_sat(totals, totals) - mul_sat(elements, z.element_bytes));
  if (!by.totals.unreduced.empty()) {
    OwnSizing own = values.call.given[0];
    own.slot = Slot::b;
    own.element_bytes = total_bytes;
    p.push_own(own);
    Step s;
    s.action = Action::communicate;
    s.collective = Collective::all_reduce;
    s.slot = Slot::b;
    s.before = by.totals;
    s.after = by.reduced;
    for (int x = 0; x < max_axes; ++x)
      if (by.totals.unreduced.contains(x)) s.axes.push(x);
    p.push(s);
    workspace = 0;
  }
  append_compute(p, {mul_sat(2, elements), workspace, false});
  p.steps[p.size - 1].before = p.steps[p.size - 1].after = by.made;
  append_moves(p, Slot::result, by.made, wanted, m);
  return p;
}

/// The steps: reshard the operand, combine the totals of the ranks in one small all_reduce,
/// compute, reshard the result. Flops: one per element read and one per element written.
constexpr Plan normalization_steps(std::string_view name, Spec const& given,
                                   NormalizationPlan const& by, Spec const& wanted, Sizing const& z,
                                   std::int64_t total_bytes, Machine const& m) {
  if (!core::compiled_part || __builtin_is_constant_evaluated()) {
    return normalization_steps_here(name, given, by, wanted, z, total_bytes, m);
  } else {
    return at_run_time::normalization_steps(name, given, by, wanted, z, total_bytes, m);
  }
}

}  // namespace shardtype::planning
