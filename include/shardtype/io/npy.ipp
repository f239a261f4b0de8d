#pragma once
/// Definitions of npy.hpp.

#include <cstring>

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

SHARDTYPE_INLINE NpyBlock::NpyBlock(std::int64_t const* extents, Rows const* rows,
                                    std::size_t rank) {
  for (std::size_t d = 0; d < rank; ++d) {
    shape.push_back(extents[d]);
    begin.push_back(rows[d].begin);
    count.push_back(rows[d].size());
  }
}

SHARDTYPE_INLINE io::NpyHeader read_header_for(MeshRef const& mesh, std::string const& path,
                                               std::string const& type, std::string const& dtype,
                                               Names const& names, Spec const& spec,
                                               std::int64_t* extents) {
  MeshState& state = mesh.state();
  if (mesh.here()) agree_on_file(state, "load_npy", path, type, {});
  // ranks outside the mesh read the extents, too, but take no part otherwise
  io::NpyHeader header =
      io::read_npy_header(mesh.here() ? state.whole().raw() : MPI_COMM_SELF, path);
  io::check_npy(header, path, dtype, static_cast<std::size_t>(spec.rank));
  for (int d = 0; d < spec.rank; ++d) {
    extents[d] = header.shape[static_cast<std::size_t>(d)];
    int const label = spec.dims[d].label;
    std::int64_t const fixed = names.label_extent[label];
    if (fixed != dynamic && fixed != extents[d])
      throw Error("IO7",
                  path + " has extent " + std::to_string(extents[d]) + " in dimension " +
                      std::to_string(d) + ", but index " + std::string(names.label_name[label]) +
                      " has the static extent " + std::to_string(fixed),
                  FailedOn::every_rank);
  }
  return header;
}

SHARDTYPE_INLINE void read_block(MeshState& mesh, std::string const& path,
                                 io::NpyHeader const& header, NpyBlock const& block,
                                 std::size_t element_bytes, bool holds_value, void* to) {
  io::read_npy_block(mesh.whole().raw(), path, header, block.begin, block.count, element_bytes, to,
                     file_access());
  if (holds_value) return;
  std::size_t bytes = element_bytes;
  for (std::int64_t const n : block.count) bytes *= static_cast<std::size_t>(n);
  if (bytes > 0) std::memset(to, 0, bytes);
}

}  // namespace shardtype::detail
