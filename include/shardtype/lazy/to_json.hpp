#pragma once
/// Plans of whole expressions as JSON, for other programs.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/dim.hpp>
#include <shardtype/core/escape.hpp>
#include <shardtype/lazy/step_texts.hpp>

namespace shardtype {

namespace detail {

/// `{"name": value, ...}` of values that are JSON already.
std::string json_object(std::initializer_list<std::pair<std::string_view, std::string>> members);
/// `[one, two]` of `count` values.
template <class Of>
std::string json_array(int count, char const* between, Of of) {
  std::string out = "[";
  for (int k = 0; k < count; ++k) out += (k == 0 ? "" : between) + of(k);
  return out + "]";
}

std::string json_of_step(PlannedProgram const& program, StepTexts const& texts, int k,
                         std::int64_t live);

}  // namespace detail

namespace api {

/// The plan as JSON: `possible`, `machine`, `axes`, `labels`, `totals`, and `steps` in the order in
/// which they run. Each step has the numbers of the steps that it reads (`inputs`), the sharding of
/// its value (`after`) and, for a move, of its operand; the bytes it sends, the work it computes,
/// the memory in use (`live_bytes`, operands included), and its predicted time. Numbers are those
/// of the busiest rank, in bytes, seconds and floating-point operations. `bound_seconds` and `gap`
/// are those of ProgramPlan, or null.
std::string to_json(core::Taken<PlannedProgram> program);

}  // namespace api

}  // namespace shardtype

#ifndef SHARDTYPE_COMPILED
#include <shardtype/lazy/to_json.ipp>
#endif
