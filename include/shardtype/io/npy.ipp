#pragma once
/// Definitions of npy.hpp.

#include <shardtype/io/npy.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE void agree_on_file(MeshState& mesh, std::string const& what,
                                    std::string const& path, std::string const& type,
                                    io::NpyInts const& shape) {
  if (!mesh.agreement().begin_step()) return;
  std::source_location const place = core::RunningCall::place();
  runtime::StepHash hash;
  hash.mix(what + " " + path + " " + type).mix(place.line());
  for (std::int64_t const n : shape) hash.mix(static_cast<std::uint64_t>(n));
  // the text of a step is short: of a long path its end
  std::size_t const longest = 90;
  std::string const shown =
      path.size() <= longest ? path : "..." + path.substr(path.size() - longest);
  mesh.agreement().meet(what + " " + shown + source_text(place), hash.value() | 1U);
}

SHARDTYPE_INLINE io::NpyAccess file_access() {
  io::NpyAccess access;
  access.collective = !run_time.yield_while_waiting;
  return access;
}

}  // namespace shardtype::detail
