#pragma once
/// The planners of the compiled part (src/planner.cpp). A `constexpr` planner of this folder calls
/// itself here at run time where the compiled part is used, so that a unit of a program compiles
/// none of the planner.

#include <cstdint>
#include <string_view>

#include <shardtype/core/compiled.hpp>
#include <shardtype/plan/plan.hpp>

namespace shardtype::planning {

struct CallSizing;
struct Work;
struct Progress;

namespace at_run_time {

void append_reshard(Plan& plan, Slot slot, Spec const& from, Spec const& to, Machine const& m,
                    std::int64_t time, AxisSet spare);
Plan contraction_plan(Spec const& a, Spec const& b, Spec const& wanted, Sizing const& z,
                      Machine const& m, Progress const& before, ProductElements const& elements);
Plan strict_contraction_plan(Spec const& a, Spec const& b, Spec const& c, Sizing const& z,
                             ProductElements const& elements);
Plan plan_of_call(std::string_view name, CallSizing const& c);
Plan partial_plan(Spec const& from, Spec const& to, Sizing const& z);
Plan reduction_plan(std::string_view name, CallSizing const& c, std::int64_t total_bytes,
                    Plan const& moves, std::int64_t partial_bytes, bool finishes);

}  // namespace at_run_time

}  // namespace shardtype::planning
