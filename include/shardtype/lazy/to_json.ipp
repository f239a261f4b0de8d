#pragma once
/// Definitions of to_json.hpp.

#include <shardtype/lazy/to_json.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE std::string json_object(
    std::initializer_list<std::pair<std::string_view, std::string>> members) {
  std::string out;
  for (auto const& [name, value] : members)
    out += (out.empty() ? "{" : ", ") + json_text(name) + ": " + value;
  return out + "}";
}

SHARDTYPE_INLINE std::string json_of_step(PlannedProgram const& program, StepTexts const& texts,
                                          int k, std::int64_t live) {
  ProgramPlan const& plan = program.plan;
  ProgramStep const& s = plan.steps[k];
  bool const moves = s.kind == ProgramStep::Kind::move;
  bool const sends = s.collective != Collective::none;
  return json_object(
      {{"step", std::to_string(k)},
       {"kind", json_text(moves && sends ? "collective" : texts.operation(k))},
       {"collective", sends ? json_text(texts.operation(k)) : "null"},
       {"axes", json_array(s.axes.size, ", ",
                           [&](int x) { return json_text(program.names.axis[s.axes[x]].name); })},
       {"inputs", json_array(s.inputs, ", ", [&](int m) { return std::to_string(s.input[m]); })},
       {"name", json_text(texts.name(k))},
       {"before", moves ? json_text(texts.sharding(s.input[0])) : "null"},
       {"after", json_text(texts.sharding(k))},
       {"text", json_text(texts.change(k))},
       {"bytes", json_number(plan.step_bytes_per_rank(k))},
       {"messages", json_number(plan.step_messages(k))},
       {"flops", json_number(plan.step_flops(k))},
       {"predicted_seconds", json_number(program.seconds(k))},
       {"block_bytes", json_number(plan.block_bytes(k))},
       {"live_bytes", json_number(live)}});
}

}  // namespace shardtype::detail

namespace shardtype {

namespace api {

SHARDTYPE_INLINE std::string to_json(core::Taken<PlannedProgram> taken) {
  PlannedProgram const& program = taken;
  using namespace detail;
  ProgramPlan const& plan = program.plan;
  Machine const& m = program.machine;
  StepTexts const texts(program);
  List<std::int64_t> live;
  std::int64_t const given = plan.given_bytes();
  plan.for_live_bytes([&](int, std::int64_t bytes) { live.push_back(given + bytes); });
  auto axis = [&](int x) {
    std::int64_t const size = plan.program.sizes[x];
    Machine const link = m.over(&program.names.axis[x].id, &size, 1);
    return json_object({{"name", json_text(program.names.axis[x].name)},
                        {"size", json_number(size)},
                        {"latency", json_number(link.latency)},
                        {"bytes_per_second", json_number(link.bytes_per_second)}});
  };
  auto label = [&](int l) {
    return json_object({{"name", json_text(program.names.label[l].name)},
                        {"extent", json_number(plan.program.extents[l])}});
  };
  auto const bound = plan.bound();
  auto const gap = plan.possible ? plan.gap() : std::nullopt;
  auto const ratio = plan.possible ? plan.lower_bound_ratio() : std::nullopt;
  std::string const members[][2] = {
      {"possible", plan.possible ? "true" : "false"},
      {"machine", json_object({{"latency", json_number(m.latency)},
                               {"bytes_per_second", json_number(m.bytes_per_second)},
                               {"flops_per_second", json_number(m.flops_per_second)},
                               {"memory_bytes_per_second", json_number(m.memory_bytes_per_second)},
                               {"cut_product", json_number(m.cut_product)},
                               {"reducing", json_number(m.reducing)}})},
      {"axes", json_array(program.names.axes, ", ", axis)},
      {"labels", json_array(program.names.labels, ", ", label)},
      {"totals", json_object({{"collectives", std::to_string(plan.collectives())},
                              {"bytes_per_rank", json_number(plan.bytes_per_rank())},
                              {"messages", json_number(plan.messages())},
                              {"flops", json_number(plan.flops())},
                              {"peak_bytes", json_number(plan.peak_bytes())},
                              {"predicted_seconds", json_number(program.seconds())},
                              {"bound_seconds", bound ? json_number(*bound) : "null"},
                              {"gap", gap ? json_number(*gap) : "null"},
                              {"lower_bound_ratio", ratio ? json_number(*ratio) : "null"}})},
      {"steps", json_array(plan.size, ",", [&](int k) {
         return "\n    " + json_of_step(program, texts, k, live[static_cast<std::size_t>(k)]);
       })}};
  std::string out;
  for (auto const& [name, value] : members)
    out += (out.empty() ? "{\n  " : ",\n  ") + json_text(name) + ": " + value;
  return out + "\n}\n";
}

}  // namespace api

}  // namespace shardtype
