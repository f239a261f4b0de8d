#pragma once
/// Definitions of step_texts.hpp.

#include <cmath>
#include <optional>

#include <shardtype/lazy/step_texts.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE std::string seconds_text(double s) {
  char const* const units[] = {"s", "ms", "µs", "ns"};
  int u = 0;
  while (s < 0.9995 && s > 0 && u < 3) s *= 1000, ++u;
  char out[32];
  std::snprintf(out, sizeof out, "%.3g %s", s, units[u]);
  return out;
}

SHARDTYPE_INLINE std::string gap_text(ProgramPlan const& plan) {
  std::optional<double> const gap = plan.gap();
  if (!gap) return {};
  if (*gap <= 1e-9) return "optimal";
  char out[64];
  // one digit, rounded up: the text is a promise
  double unit = 1e-9;
  while (*gap * 100 >= unit * 10) unit *= 10;
  double const percent = std::ceil(*gap * 100 / unit) * unit;
  std::snprintf(
      out, sizeof out,
      percent < 1 ? "within %.1g %% of the best possible" : "within %.0f %% of the best possible",
      percent);
  return out;
}
SHARDTYPE_INLINE std::size_t columns(std::string const& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

SHARDTYPE_INLINE StepTexts::StepTexts(PlannedProgram const& p) : plan_(p.plan), names_(p.names) {
  for (int x = 0; x < names_.axes; ++x) {
    axes_.axis_name[x] = names_.axis[x].name;
    axes_.axis_id[x] = names_.axis[x].id;
  }
  axes_.axes = names_.axes;
  int made = 0;
  for (ProgramStep const& s : plan_) {
    if (s.kind == ProgramStep::Kind::move) {
      name_.push_back(name(s.input[0]));
    } else if (s.kind == ProgramStep::Kind::given) {
      name_.push_back(letter(given_before(s.node)));
    } else {
      name_.push_back("T" + std::to_string(++made));
    }
  }
}

SHARDTYPE_INLINE Names StepTexts::names(int step) const {
  Names names = axes_;
  ProgramNode const& n = plan_.program.nodes[plan_.steps[step].node];
  for (int d = 0; d < n.rank; ++d) names.label_name[d] = names_.label[n.labels[d]].name;
  names.labels = n.rank;
  return names;
}

SHARDTYPE_INLINE std::string StepTexts::group(int step) const {
  ProgramStep const& s = plan_.steps[step];
  AxisList axes = s.axes;
  if (plan_.is_own_call(step)) {
    std::int8_t const* const number = planning::axes_of_own_plan(plan_.program, s.node).axis;
    for (Step const& sent : plan_.own_plan(step))
      for (int k = 0; k < sent.axes.size; ++k)
        if (!axes.contains(number[sent.axes[k]])) axes.push(number[sent.axes[k]]);
  }
  std::string out;
  for (int k = 0; k < axes.size; ++k) {
    if (k > 0) out += ",";
    out += names_.axis[axes[k]].name;
  }
  return out;
}

SHARDTYPE_INLINE std::string StepTexts::operation(int step) const {
  ProgramStep const& s = plan_.steps[step];
  if (s.kind == ProgramStep::Kind::given) return "given";
  if (s.kind == ProgramStep::Kind::move)
    return s.collective == Collective::none ? "slice" : collective_text(s.collective);
  ProgramNode const& n = plan_.program.nodes[s.node];
  switch (n.backward) {
    case planning::Backward::add:
      return "add";
    case planning::Backward::spread:
      return "spread";
    case planning::Backward::one:
      return "ones";
    case planning::Backward::zero:
      return "zeros";
    case planning::Backward::pull:
      if (n.making == Making::map || n.making == Making::operation) return "pull";
      break;
    default:
      break;
  }
  switch (n.making) {
    case Making::product:
      return "product";
    case Making::map:
      return reorders(s.node) ? "transpose" : "map";
    case Making::reduction:
      return "reduction";
    case Making::operation:
    case Making::result:
    case Making::shard_map:
      return n.name;
    default:
      return "relabel";
  }
}

SHARDTYPE_INLINE std::string StepTexts::function(int step) const {
  ProgramNode const& n = plan_.program.nodes[plan_.steps[step].node];
  if (operation(step) == "pull") return n.name == nullptr ? "df" : "d " + std::string(n.name);
  if (n.backward != planning::Backward::none || n.name != nullptr) return operation(step);
  return n.making == Making::reduction ? "reduce" : "f";
}

SHARDTYPE_INLINE std::string StepTexts::change(int step) const {
  ProgramStep const& s = plan_.steps[step];
  if (s.kind == ProgramStep::Kind::given) return value(step);
  if (s.kind == ProgramStep::Kind::move) return value(s.input[0]) + " -> " + sharding(step);
  ProgramNode const& n = plan_.program.nodes[s.node];
  if (n.making == Making::relabel || reorders(s.node))
    return value(step) + " = " + value(s.input[0]);
  bool const product = n.making == Making::product;
  std::string out = value(step) + " = ";
  if (!product) out += function(step) + "(";
  for (int k = 0; k < s.inputs; ++k)
    out += (k == 0 ? "" : product ? " · " : ", ") + value(s.input[k]);
  return out + (product ? "" : ")");
}

SHARDTYPE_INLINE std::string StepTexts::amount(int step) const {
  bool const sends = plan_.is_own_call(step) && plan_.step_messages(step) > 0;
  if (sends || plan_.steps[step].collective != Collective::none)
    return bytes_text(plan_.step_bytes_per_rank(step));
  if (std::int64_t const flops = plan_.step_flops(step); flops > 0) return flops_text(flops);
  return "local";
}

SHARDTYPE_INLINE List<int> StepTexts::given() const {
  List<int> out;
  for (int of = 0; of < plan_.program.size; ++of)
    for (int k = 0; k < plan_.size; ++k)
      if (plan_.steps[k].node == of && plan_.steps[k].kind == ProgramStep::Kind::given)
        out.push_back(k);
  return out;
}

SHARDTYPE_INLINE std::string StepTexts::sizes() const {
  std::string out;
  for (int x = 0; x < names_.axes; ++x)
    out += (x == 0 ? "on " : ", ") + size(names_.axis[x].name, plan_.program.sizes[x]);
  char const* between = out.empty() ? "" : "; ";
  for (int l = 0; l < names_.labels; ++l) {
    if (said(l)) continue;
    out += between + size(names_.label[l].name, plan_.program.extents[l]);
    between = ", ";
  }
  return out;
}

SHARDTYPE_INLINE int StepTexts::given_before(int value) const {
  int n = 0;
  for (int k = 0; k < value; ++k) n += plan_.program.nodes[k].making == Making::given ? 1 : 0;
  return n;
}

SHARDTYPE_INLINE bool StepTexts::said(int l) const {
  for (int k = 0; k < l; ++k)
    if (names_.label[k].id == names_.label[l].id &&
        plan_.program.extents[k] == plan_.program.extents[l])
      return true;
  return false;
}

}  // namespace shardtype::detail
