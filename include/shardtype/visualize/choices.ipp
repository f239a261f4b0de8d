#pragma once
/// Definitions of choices.hpp.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include <shardtype/core/text.hpp>
#include <shardtype/lazy/step_texts.hpp>
#include <shardtype/plan/layout_graph.hpp>
#include <shardtype/plan/program_planner.hpp>
#include <shardtype/plan/unreduced_reach.hpp>
#include <shardtype/plan/update_writer.hpp>
#include <shardtype/visualize/choices.hpp>

namespace shardtype {

namespace visualizing {

/// Plans a program again with one value in another sharding.
class Choices {
 public:
  explicit Choices(PlannedProgram const& p)
      : p_(p), rates_(p.rates()), texts_(p), seconds_(p.seconds()) {}

  shardtype::detail::List<LayoutChoice> all() const {
    shardtype::detail::List<LayoutChoice> out;
    for (int const k : texts_.given()) out.push_back(of(k));
    for (int k = 0; k < p_.plan.size; ++k)
      if (p_.plan.steps[k].kind == planning::ProgramStep::Kind::make && chooses(k))
        out.push_back(of(k));
    return out;
  }

 private:
  bool chooses(int step) const {
    planning::ProgramNode const& n = p_.plan.program.nodes[p_.plan.steps[step].node];
    bool const computed =
        n.making == planning::Making::product || n.making == planning::Making::map ||
        n.making == planning::Making::reduction || n.making == planning::Making::operation;
    if (planning::is_update(n)) return n.rank > 0;
    return computed && n.rank > 0 && n.pinned < 0 && n.ways > 0;
  }
  LayoutChoice of(int step) const {
    LayoutChoice out{texts_.name(step), texts_.operation(step), texts_.sharding(step), {}, 0};
    int const node = p_.plan.steps[step].node;
    planning::LayoutCode const code = p_.plan.program.code(node);
    int const chosen = p_.plan.steps[step].layout;
    int best = -1;
    for (int layout = 0; layout < code.codes(); ++layout) {
      if (code.of(code.spec(layout)) != layout || alike(code.spec(layout), code.spec(chosen)))
        continue;
      double const seconds = seconds_with(node, layout);
      if (seconds < 0 || (best >= 0 && seconds >= out.seconds)) continue;
      best = layout;
      out.seconds = seconds;
    }
    if (best < 0) return out;
    out.otherwise = spec_text(p_.plan.program.spec(node, best), texts_.names(step));
    out.seconds -= seconds_;
    return out;
  }
  /// Whether two layouts split the same dims over the same axes, in whatever order.
  static bool alike(Spec const& a, Spec const& b) {
    for (int d = 0; d < a.rank; ++d) {
      if (a.dims[d].axes.size != b.dims[d].axes.size) return false;
      for (int k = 0; k < a.dims[d].axes.size; ++k)
        if (!b.dims[d].axes.contains(a.dims[d].axes[k])) return false;
    }
    return a.unreduced == b.unreduced;
  }
  /// The predicted time of the program if a value has this layout; -1: it cannot have it.
  double seconds_with(int node, int layout) const {
    planning::RecordedProgram program = p_.plan.program;
    planning::ProgramNode const& n = program.nodes[node];
    if (n.making == planning::Making::given && !program.code(node).spec(layout).unreduced.empty())
      return -1;
    if (n.making == planning::Making::operation && splits_whole(n, program.spec(node, layout)))
      return -1;
    if (planning::is_update(n)) {
      if (!program.code(node).spec(layout).unreduced.empty()) return -1;
      planning::pin_update(program, node, layout);
    } else {
      program.nodes.edit(node).pinned = layout;
    }
    if (!planning::UnreducedReach(program).holds()) return -1;
    planning::ProgramPlan const plan = planning::plan_program(program, rates_);
    if (!plan.possible) return -1;
    return static_cast<double>(plan.picoseconds(rates_)) * 1e-12;
  }
  static bool splits_whole(planning::ProgramNode const& n, Spec const& s) {
    for (int d = 0; d < n.rank; ++d)
      if (((n.whole[0] >> d) & 1U) != 0 && s.dims[d].axes.size > 0 && n.totals < 0 &&
          n.call_on_rows == nullptr)
        return true;
    return false;
  }

  PlannedProgram const& p_;
  planning::Rates rates_;
  shardtype::detail::StepTexts texts_;
  double seconds_;
};

}  // namespace visualizing

namespace api {

SHARDTYPE_INLINE detail::List<LayoutChoice> layout_choices(core::Taken<PlannedProgram> program) {
  return visualizing::Choices(program.value).all();
}
SHARDTYPE_INLINE std::string explain_choices(core::Taken<PlannedProgram> program) {
  detail::List<LayoutChoice> const all = api::layout_choices(program.value);
  std::size_t widest[4] = {0, 0, 0, 0};
  auto const texts = [](LayoutChoice const& c, int k) -> std::string const& {
    return k == 0 ? c.value : k == 1 ? c.made_by : k == 2 ? c.chosen : c.otherwise;
  };
  for (LayoutChoice const& c : all)
    for (int k = 0; k < 4; ++k) widest[k] = std::max(widest[k], detail::columns(texts(c, k)));
  std::string out;
  for (LayoutChoice const& c : all) {
    for (int k = 0; k < 3; ++k) out += detail::padded(texts(c, k), widest[k] + 2);
    if (c.otherwise.empty()) {
      out += "no other\n";
      continue;
    }
    out += "else " + detail::padded(c.otherwise, widest[3] + 2) + (c.seconds < 0 ? "- " : "+ ") +
           detail::seconds_text(std::abs(c.seconds)) + "\n";
  }
  return out;
}

}  // namespace api

}  // namespace shardtype
