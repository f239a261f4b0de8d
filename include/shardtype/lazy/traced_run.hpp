#pragma once
/// Records one run of a whole expression's plan in the trace that SHARDTYPE_TRACE asks for.

#include <source_location>
#include <string>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/escape.hpp>
#include <shardtype/lazy/step_texts.hpp>
#include <shardtype/runtime/step_name.hpp>
#include <shardtype/runtime/trace.hpp>

namespace shardtype::detail {

/// While it exists, the trace, if there is one, records the given plan as running. `type`
/// identifies plans of one type.
class TracedRun {
 public:
  TracedRun(Identity type, ProgramPlan const& plan, ProgramNames const& names,
            Machine const& machine, std::source_location const& where);
  TracedRun(TracedRun const&) = delete;
  TracedRun& operator=(TracedRun const&) = delete;
  ~TracedRun() {
    if (run_time.trace != nullptr) run_time.trace->done(-1, begin_);
  }

 private:
  static TracedProgram described(TracedProgram program, PlannedProgram const& p,
                                 std::source_location const& where);

  double begin_ = 0;
};

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/lazy/traced_run.ipp>
#endif
