#pragma once
/// Definitions of executor.hpp.

#include <string>

#include <shardtype/execute/executor.hpp>
#include <shardtype/runtime/step_name.hpp>

namespace shardtype::execute {

SHARDTYPE_INLINE void agree_on_collective(MeshState& mesh, AxisMap const& axes,
                                          Sizing const& sizing, Step const& s,
                                          Caller const& caller) {
  StepHash hash;
  std::string text = caller.name != nullptr ? caller.name : planning::kind_of(s.collective()).name;
  text += " over ";
  hash.mix(text);
  for (int k = 0; k < s.axes.size; ++k) {
    int const x = axes.position[s.axes[k]];
    text += (k == 0 ? "" : ",") + mesh.axes()[static_cast<std::size_t>(x)].name;
    hash.mix(static_cast<std::uint64_t>(x) + 1);
  }
  for (int d = 0; d < s.before.rank; ++d)
    hash.mix(static_cast<std::uint64_t>(sizing.extents[s.before.dims[d].label]));
  hash.mix(static_cast<std::uint64_t>(s.from + 2));
  hash.mix(static_cast<std::uint64_t>(s.to + 2));
  for (std::int64_t const n : {caller.first, caller.second})
    hash.mix(static_cast<std::uint64_t>(n));
  std::source_location const place = core::RunningCall::place(caller.where);
  hash.mix(place.line());
  mesh.agreement().meet(text + source_text(place), hash.value());
}

}  // namespace shardtype::execute
