// Planners that run at run time (shardtype/plan/at_run_time.hpp).
#include <shardtype/plan/at_run_time.hpp>
#include <shardtype/plan/contraction_plan.hpp>
#include <shardtype/plan/named_plan.hpp>
#include <shardtype/plan/reduction_plan.hpp>

namespace shardtype::planning::at_run_time {

void append_reshard(Plan& plan, Slot slot, Spec const& from, Spec const& to, Machine const& m,
                    std::int64_t time, AxisSet spare) {
  append_reshard_here(plan, slot, from, to, m, time, spare);
}

Plan contraction_plan(Spec const& a, Spec const& b, Spec const& wanted, Sizing const& z,
                      Machine const& m, Progress const& before, ProductElements const& elements) {
  return contraction_plan_here(a, b, wanted, z, m, before, elements);
}

Plan strict_contraction_plan(Spec const& a, Spec const& b, Spec const& c, Sizing const& z,
                             ProductElements const& elements) {
  return strict_contraction_plan_here(a, b, c, z, elements);
}

Plan plan_of_call(std::string_view name, CallSizing const& c) { return plan_of_call_here(name, c); }

Plan partial_plan(Spec const& from, Spec const& to, Sizing const& z) {
  return partial_plan_here(from, to, z);
}

Plan reduction_plan(std::string_view name, CallSizing const& c, std::int64_t total_bytes,
                    Plan const& moves, std::int64_t partial_bytes, bool finishes) {
  return reduction_plan_here(name, c, total_bytes, moves, partial_bytes, finishes);
}

}  // namespace shardtype::planning::at_run_time
