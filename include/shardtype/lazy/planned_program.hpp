#pragma once
/// A plan of a whole expression with the names in it and the machine that it was made for.

#include <shardtype/core/error.hpp>
#include <shardtype/lazy/compiled_plan.hpp>

namespace shardtype {

/// A plan with what it takes to print it and to predict its time.
struct PlannedProgram {
  ProgramPlan plan{};
  automatic_mode::ProgramNames names{};
  Machine machine{};

  planning::Rates rates() const {
    return detail::rates_for(machine, -1, plan.program.sizes, names);
  }
  /// Predicted time, by the machine's link of each axis.
  double seconds() const { return static_cast<double>(plan.picoseconds(rates())) * 1e-12; }
  /// Predicted time of one step.
  double seconds(int step) const {
    return static_cast<double>(plan.picoseconds(step, rates())) * 1e-12;
  }
};

namespace detail {

/// Error E20: a value that the program needs is more than a tensor can be.
inline void check_countable(RecordedProgram const& p) {
  if (!p.countable())
    throw Error("E20", "the expression needs a value of more than 2^58 elements",
                FailedOn::every_rank);
}

}  // namespace detail

}  // namespace shardtype
