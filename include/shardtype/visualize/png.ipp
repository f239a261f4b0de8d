#pragma once
/// Definitions of png.hpp.

#include <cstdint>
#include <optional>
#include <string>

#include <shardtype/core/error.hpp>
#include <shardtype/runtime/files.hpp>
#include <shardtype/visualize/png.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE void write_png(MeshState& mesh, visualizing::Pixels& pixels,
                                PngOptions const& options, bool integers, std::string const& path) {
  List<double>& sums = pixels.sums();
  mesh.whole().all_reduce(&sums[0], &sums[0], static_cast<std::int64_t>(sums.size()),
                          ReduceKind::sum);
  // Others wait for the outcome, so that they fail too.
  std::int64_t fault = 0;
  std::optional<Error> failed;
  if (mesh.whole().rank() == 0) {
    try {
      fault = runtime::replace_file(path, pixels.png(options, integers));
    } catch (Error const& e) {
      failed = e;
      fault = -1;
    }
  }
  mesh.whole().broadcast(&fault, 1, 0);
  if (failed) throw Error(*failed);
  if (fault < 0) throw Error("E87", "no picture of " + path, FailedOn::every_rank);
  if (fault > 0)
    throw Error("IO8",
                "cannot write " + path + ": " + runtime::file_fault_text(static_cast<int>(fault)),
                FailedOn::every_rank);
}

}  // namespace shardtype::detail
