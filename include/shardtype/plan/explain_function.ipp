#pragma once
/// Definitions of explain_function.hpp.

#include <cstdio>

#include <shardtype/plan/explain.hpp>
#include <shardtype/plan/explain_function.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE std::string step_text(FunctionPlan const& plan, FunctionStep const& s) {
  Names names;
  names.labels = max_labels;
  names.axes = plan.axes;
  for (int d = 0; d < max_labels; ++d) names.label_name[d] = s.label_name[d];
  for (int x = 0; x < max_axes; ++x) names.axis_name[x] = plan.axis_name[x];
  std::string const before = spec_text(s.step.before, names);
  std::string const after = spec_text(s.step.after, names);
  std::string change = before;
  change += " -> ";
  change += after;
  std::string amount = s.flops > 0 ? flops_text(s.flops) : "";
  if (s.step.is_collective())
    amount = bytes_text(step_bytes_per_rank(s.step, s.sizing, {}));
  else if (s.step.move == Move::compute || s.step.move == Move::finish)
    change = after;
  if (s.repeat.has(0)) amount = rounds_text(s.repeat, 0, s.step, s.sizing);
  return padded(std::string(s.operation), 14) + " " +
         padded(step_text(s.step, plan.axis_name), 17) + padded(change, 46) + " " + amount;
}

/// `1 collective, 0.52 MB/rank, 0.21 GFLOP/rank`
SHARDTYPE_INLINE std::string total_text(FunctionPlan const& plan) {
  return sent_text(plan.collectives(), plan.bytes_per_rank()) + ", " + flops_text(plan.flops()) +
         "/rank";
}
SHARDTYPE_INLINE std::string steps_text(FunctionPlan const& plan) {
  std::string out;
  int line = 0;
  for (FunctionStep const& s : plan) {
    char number[16];
    std::snprintf(number, sizeof number, "%3d  ", ++line);
    std::string text = number + step_text(plan, s);
    text.erase(text.find_last_not_of(' ') + 1);
    out += text;
    out += "\n";
  }
  return out;
}

/// `at most 2 AllReduce, 1 AllGather`
SHARDTYPE_INLINE std::string at_most_text(planning::OpenFunctionPlan const& plan) {
  std::string out;
  for (int c = 1; c < collective_rows; ++c) {
    auto const kind = static_cast<Collective>(c);
    if (plan.count(kind) == 0) continue;
    out += out.empty() ? "at most " : ", ";
    out += plan.count(kind) == planning::unbounded ? "any number of"
                                                   : std::to_string(plan.count(kind));
    out += " ";
    out += collective_text(kind);
  }
  return out.empty() ? "no collective" : out;
}

}  // namespace shardtype::detail

namespace shardtype {

namespace api {

SHARDTYPE_INLINE std::string explain(core::Taken<FunctionPlan> taken) {
  FunctionPlan const& plan = taken;
  return detail::total_text(plan) + ", peak " + detail::bytes_text(plan.peak_bytes()) + "\n" +
         detail::steps_text(plan);
}

SHARDTYPE_INLINE std::string explain(core::Taken<GradientPlan> taken) {
  GradientPlan const& plan = taken;
  return "forward: " + detail::total_text(plan.forward) + "\n" + detail::steps_text(plan.forward) +
         "backward: " + detail::total_text(plan.backward) + "\n" +
         detail::steps_text(plan.backward) +
         "saved for the backward pass: " + detail::bytes_text(plan.tape_bytes()) + "/rank, peak " +
         detail::bytes_text(plan.peak_bytes()) + "\n";
}

SHARDTYPE_INLINE std::string explain(core::Taken<planning::OpenFunctionPlan> taken) {
  planning::OpenFunctionPlan const& plan = taken;
  return detail::at_most_text(plan) + "\n";
}

SHARDTYPE_INLINE std::string explain(core::Taken<planning::OpenGradientPlan> taken) {
  planning::OpenGradientPlan const& plan = taken;
  return "forward: " + detail::at_most_text(plan.forward) +
         "\nbackward: " + detail::at_most_text(plan.backward) + "\n";
}

}  // namespace api

}  // namespace shardtype
