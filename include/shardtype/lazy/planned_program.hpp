#pragma once
/// A plan of a whole expression with its names and the machine it was made for.

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/lazy/compiled_plan.hpp>

namespace shardtype {

/// A plan with the data needed to print it and to predict its time.
struct PlannedProgram {
  ProgramPlan plan{};
  automatic_mode::ProgramNames names{};
  Machine machine{};

  planning::Rates rates() const {
    return detail::rates_for(machine, -1, plan.program.sizes, names);
  }
  /// Predicted time, using the machine's link for each axis.
  double seconds() const { return static_cast<double>(plan.picoseconds(rates())) * 1e-12; }
  /// Predicted time of one step.
  double seconds(int step) const {
    return static_cast<double>(plan.picoseconds(step, rates())) * 1e-12;
  }
};

namespace detail {

/// Error E20: a value of the program has more elements than a tensor can have.
void check_countable(RecordedProgram const& p);

}  // namespace detail

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/lazy/planned_program.ipp>
#endif
