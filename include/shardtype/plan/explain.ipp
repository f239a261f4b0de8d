#pragma once
/// Definitions of explain.hpp.

#include <shardtype/plan/explain.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE std::string with_unit(double value, char const* const (&units)[5]) {
  int u = 0;
  while (value >= 999.5 && u < 4) value /= 1000, ++u;
  char out[32];
  std::snprintf(out, sizeof out, "%.3g %s", value, units[u]);
  return out;
}

SHARDTYPE_INLINE std::string step_text(Step const& s, std::string_view const* axis_names) {
  if (s.move == Move::slice) return "slice";
  if (s.move == Move::transpose) return "transpose";
  if (!s.is_collective()) return "local";
  std::string out = collective_text(s.collective()) + " ";
  for (int k = 0; k < s.axes.size; ++k) {
    if (k > 0) out += ",";
    out += axis_names[s.axes[k]];
  }
  return out;
}

SHARDTYPE_INLINE std::string sent_text(int collectives, std::int64_t bytes) {
  if (collectives == planning::unbounded) return "any number of collectives and bytes/rank";
  return std::to_string(collectives) + (collectives == 1 ? " collective, " : " collectives, ") +
         bytes_text(bytes) + "/rank";
}

SHARDTYPE_INLINE std::string padded(std::string text, std::size_t width) {
  std::size_t shown = 0;
  for (char c : text) shown += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
  if (shown < width) text.append(width - shown, ' ');
  return text;
}

SHARDTYPE_INLINE std::int64_t step_bytes_per_rank(Step const& s, Sizing const& z,
                                                  Coords const& first, int root) {
  planning::Accounting a(planning::Answer::bytes);
  a.move(s, z, first, root);
  return a.bytes_per_rank();
}

SHARDTYPE_INLINE std::string rounds_text(planning::Repeat const& loop, int step, Step const& s,
                                         Sizing const& z) {
  if (!loop.known()) return "any number of rounds";
  std::int64_t rounds = 0;
  std::int64_t least[] = {saturated, saturated};  // bytes and flops
  std::int64_t most[] = {0, 0};
  for (std::int64_t n = 0; n < loop.rounds; ++n) {
    planning::Round const r = loop.round(step, s, z, n);
    if (!r.runs) continue;
    ++rounds;
    std::int64_t const bytes =
        s.is_collective() ? mul_sat(step_bytes_per_rank(s, r.sizing, r.first, r.root), r.times)
                          : r.work.bytes;
    std::int64_t const amounts[] = {bytes, r.work.flops};
    for (int k = 0; k < 2; ++k) {
      least[k] = std::min(least[k], amounts[k]);
      most[k] = std::max(most[k], amounts[k]);
    }
  }
  std::string head = std::to_string(rounds) + (rounds == 1 ? " round" : " rounds");
  if (rounds == 0) return head;
  auto const range = [](std::string const& from, std::string const& to) {
    return ", " + (from == to ? to : from + " to " + to);
  };
  return head + (most[1] > 0 ? range(flops_text(least[1]), flops_text(most[1]))
                             : range(bytes_text(least[0]), bytes_text(most[0])));
}

SHARDTYPE_INLINE std::string stages_text(Collective c, std::int64_t bytes, Machine const& over) {
  planning::StageBytes const b = planning::staged_bytes(c, bytes, over);
  if (b.between == 0) return {};
  return "two stages: " + bytes_text(b.inside) + " inside of nodes, " + bytes_text(b.between) +
         " between";
}

}  // namespace shardtype::detail

namespace shardtype {

namespace api {

SHARDTYPE_INLINE std::string explain(core::Taken<Plan> plan, core::Names const& names) {
  return api::explain(plan, names, Machine{});
}

SHARDTYPE_INLINE std::string explain(core::Taken<Plan> taken, core::Names const& names,
                                     core::Taken<Machine> machine) {
  Plan const& plan = taken;
  Machine const& on = machine;
  using namespace detail;
  auto text = [&](Spec const& s) { return spec_text(s, names); };
  bool const product = plan.of == planning::PlanOf::product;
  bool const reshard = plan.of == planning::PlanOf::reshard;
  char const* const operand_name[] = {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"};
  std::string const result = operand_name[std::min(plan.operand_count, max_plan_operands - 1)];
  std::string operands;
  for (int k = 0; k < plan.operand_count; ++k)
    operands += (k == 0    ? ""
                 : product ? " · "
                           : ", ") +
                std::string(operand_name[k]) + text(plan.operands[k]);
  std::string what_it_does = std::string(plan.name);
  std::string head = result + text(plan.result) + " = " +
                     (product || reshard ? operands : what_it_does + "(" + operands + ")");
  std::string out = padded(head, 60) + " " + sent_text(plan.collectives(), plan.bytes_per_rank()) +
                    ", peak " + bytes_text(plan.peak_bytes());
  if (plan.flops() == saturated)
    out += ", any number of FLOP/rank";
  else if (product || plan.flops() > 0)
    out += ", " + flops_text(plan.flops()) + "/rank";
  out += "\n";
  auto const slot_name = [&](Slot slot) -> std::string {
    int const k = static_cast<int>(slot);
    if (reshard) return "A";
    int const operand = k < 2 ? k : k - 1;
    return k == 2 || operand >= plan.operand_count ? "P" : operand_name[operand];
  };
  int line = 0;
  for (Step const& s : plan) {
    bool const last = ++line == plan.size;
    std::string const from = slot_name(s.slot);
    std::string const to = last ? result : from;
    std::string change = from + text(s.before) + " -> " + to + text(s.after);
    std::string amount = "free";
    std::string stages;
    if (s.is_collective()) {
      std::int64_t const bytes = step_bytes_per_rank(s, plan.sizing_of(s.slot), {});
      amount = bytes_text(bytes);
      Identity ids[max_axes]{};
      std::int64_t along[max_axes]{};
      for (int k = 0; k < s.axes.size; ++k) {
        ids[k] = names.axis_id[s.axes[k]];
        along[k] = plan.sizing.sizes[s.axes[k]];
      }
      bool const regular = s.collective() != Collective::all_to_all || s.move == Move::exchange ||
                           s.move == Move::exchange_cyclic;
      if (regular) stages = stages_text(s.collective(), bytes, on.over(ids, along, s.axes.size));
    } else if (s.move == Move::compute) {
      change = to + text(s.after) + " = " + (product ? "A · B" : what_it_does);
      amount = plan.local_flops > 0 || product ? flops_text(plan.local_flops)
               : plan.shares                   ? "free"
                                               : bytes_text(plan.block_bytes(s.after, s.slot));
    } else if (s.move == Move::finish) {
      amount = bytes_text(plan.block_bytes(s.after, s.slot));
    }
    if (int const loop = plan.repeat_of(line - 1); loop >= 0)
      amount = rounds_text(plan.repeats[loop], line - 1, s, plan.sizing_of(s.slot));
    char number[16];
    std::snprintf(number, sizeof number, "%3d  ", line);
    out += number + padded(step_text(s, names.axis_name), 17) + padded(change, 46) + " " + amount +
           "\n";
    if (!stages.empty()) out += "     " + stages + "\n";
  }
  return out;
}

}  // namespace api

}  // namespace shardtype
