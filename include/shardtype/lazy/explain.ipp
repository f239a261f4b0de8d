#pragma once
/// Definitions of explain.hpp.

#include <shardtype/lazy/explain.hpp>

namespace shardtype {

SHARDTYPE_INLINE std::string detail::open_text(ProgramNames const& names) {
  std::string open;
  std::string given;
  auto add = [&](std::string_view name, char const* what, char const* n) {
    std::string const text = std::string(what) + "<" + std::string(name) + ">(" + n + ")";
    if (given.find("." + text) != std::string::npos) return;
    open += (open.empty() ? "" : ", ") + std::string(name);
    given += "." + text;
  };
  for (int l = 0; l < names.labels; ++l)
    if (names.label[l].extent == dynamic && !names.made[l]) add(names.label[l].name, "extent", "n");
  for (int x = 0; x < names.axes; ++x)
    if (names.axis[x].size == dynamic) add(names.axis[x].name, "ranks", "p");
  return "the plan depends on sizes that the types leave open: " + open +
         "\n  explain(dry_run<...>(f)" + given + ".planned()) has it\n";
}

namespace api {

SHARDTYPE_INLINE std::string explain(core::Taken<PlannedProgram> taken) {
  PlannedProgram const& program = taken;
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
  std::string const proof = detail::gap_text(plan);
  std::string out =
      texts.value(plan.size - 1) + " of " + given + "\n  " + texts.sizes() + "\n  " +
      collectives_text(plan.collectives()) + ", " + bytes_text(plan.bytes_per_rank()) +
      "/rank, peak " + bytes_text(plan.peak_bytes()) + ", " + flops_text(plan.flops()) + "/rank, " +
      seconds_text(program.seconds()) + " predicted" + (proof.empty() ? "" : ", ") + proof + "\n";
  auto right = [&](std::string const& text, std::size_t width) {
    return std::string(width - std::min(width, columns(text)), ' ') + text;
  };
  planning::Rates const rates = program.rates();
  int line = 0;
  for (int k = 0; k < plan.size; ++k) {
    if (plan.steps[k].kind == ProgramStep::Kind::given) continue;
    out += right(std::to_string(++line), 3) + "  " + padded(texts.kind(k), widest[0] + 2) +
           padded(texts.change(k), widest[1] + 1) + right(texts.amount(k), 11) +
           right(seconds_text(program.seconds(k)), 10) + "\n";
    unsigned set = 0;
    for (int x = 0; x < plan.steps[k].axes.size; ++x) set |= 1U << plan.steps[k].axes[x];
    std::string const stages =
        stages_text(plan.steps[k].collective, plan.step_bytes_per_rank(k), rates.over[set]);
    if (!stages.empty()) out += "     " + stages + "\n";
  }
  return out;
}

}  // namespace api

}  // namespace shardtype
