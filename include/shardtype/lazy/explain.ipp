#pragma once
/// Definitions of explain.hpp.

#include <shardtype/lazy/explain.hpp>

namespace shardtype {

SHARDTYPE_INLINE std::string explain(PlannedProgram const& program) {
  using namespace detail;
  ProgramPlan const& plan = program.plan;
  if (!plan.possible)
    return plan.program.countable() ? "no plan keeps to the memory limit\n"
                                    : "every plan needs a value of more than 2^58 elements\n";
  StepTexts const texts(program);
  std::string given;
  std::size_t widest[2] = {0, 0};
  for (int k = 0; k < plan.size; ++k) {
    if (plan.steps[k].kind == ProgramStep::Kind::given) continue;
    widest[0] = std::max(widest[0], columns(texts.kind(k)));
    widest[1] = std::max(widest[1], columns(texts.change(k)));
  }
  for (int k : texts.given()) given += (given.empty() ? "" : ", ") + texts.value(k);
  std::string out = texts.value(plan.size - 1) + " of " + given + "\n  " + texts.sizes() + "\n  " +
                    collectives_text(plan.collectives()) + ", " +
                    bytes_text(plan.bytes_per_rank()) + "/rank, peak " +
                    bytes_text(plan.peak_bytes()) + ", " + flops_text(plan.flops()) + "/rank, " +
                    seconds_text(program.seconds()) + " predicted\n";
  auto right = [&](std::string const& text, std::size_t width) {
    return std::string(width - std::min(width, columns(text)), ' ') + text;
  };
  int line = 0;
  for (int k = 0; k < plan.size; ++k) {
    if (plan.steps[k].kind == ProgramStep::Kind::given) continue;
    out += right(std::to_string(++line), 3) + "  " + padded(texts.kind(k), widest[0] + 2) +
           padded(texts.change(k), widest[1] + 1) + right(texts.amount(k), 11) +
           right(seconds_text(program.seconds(k)), 10) + "\n";
  }
  return out;
}

}  // namespace shardtype
