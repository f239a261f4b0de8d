#pragma once
/// Definitions of traced_run.hpp.

#include <shardtype/lazy/traced_run.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE TracedRun::TracedRun(Identity type, ProgramPlan const& plan,
                                      ProgramNames const& names, Machine const& machine,
                                      std::source_location const& called) {
  if (run_time.trace == nullptr) return;
  std::source_location const where = core::RunningCall::place(called);
  TracedProgram program;
  program.type = type;
  program.file = where.file_name();
  program.line = where.line();
  for (int l = 0; l < plan.program.labels; ++l) program.sizes.push_back(plan.program.extents[l]);
  for (int x = 0; x < plan.program.axes; ++x) program.sizes.push_back(plan.program.sizes[x]);
  if (!run_time.trace->knows(program))
    run_time.trace->describe(described(program, {plan, names, machine}, where));
  begin_ = run_time.trace->now();
}

SHARDTYPE_INLINE TracedProgram TracedRun::described(TracedProgram program, PlannedProgram const& p,
                                                    std::source_location const& where) {
  StepTexts const texts(p);
  auto member = [](char const* name, std::string const& value) {
    return json_text(name) + ": " + value;
  };
  program.name = "evaluate" + source_text(where);
  program.details = member("value", json_text(texts.value(p.plan.size - 1))) + ", " +
                    member("sizes", json_text(texts.sizes())) + ", " +
                    member("predicted_us", json_number(p.seconds() * 1e6));
  int line = 0;
  for (int k = 0; k < p.plan.size; ++k) {
    ProgramStep const& s = p.plan.steps[k];
    bool const given = s.kind == ProgramStep::Kind::given;
    TracedStep step;
    step.name = texts.kind(k);
    step.category = s.collective != Collective::none ? "collective" : "local";
    step.predicted = p.seconds(k);
    step.details = member("step", std::to_string(given ? 0 : ++line)) + ", " +
                   member("what", json_text(texts.change(k))) + ", " +
                   member("bytes", json_number(p.plan.step_bytes_per_rank(k))) + ", " +
                   member("flops", json_number(p.plan.step_flops(k))) + ", " +
                   member("predicted_us", json_number(step.predicted * 1e6));
    program.steps.push_back(step);
  }
  return program;
}

}  // namespace shardtype::detail
