#pragma once
/// Definitions of save.hpp.

#include <utility>

#include <shardtype/checkpoint/save.hpp>
#include <shardtype/core/error.hpp>

namespace shardtype::checkpoint::detail {

SHARDTYPE_INLINE void check_step(std::int64_t step) {
  if (step < 0)
    throw Error("E95", "a step has the number " + std::to_string(step) + "; it cannot be negative",
                FailedOn::every_rank);
}

#ifdef SHARDTYPE_HAVE_JSON

SHARDTYPE_INLINE void save_now(Contents contents, std::string const& run, std::int64_t step,
                               Extra const& extra, Options const& options,
                               std::source_location const& where) try {
  check_step(step);
  runtime::MeshState* const mesh = contents.tensors.here();
  if (mesh == nullptr) return;
  if (mesh->agreement().begin_step())
    mesh->agreement().meet("checkpoint::save" + text_of_step(step, contents.counts, extra) +
                           core::source_text(core::RunningCall::place(where)));
  StepWrite write(mesh->whole(), run, step, std::move(contents.tensors.list), extra,
                  std::move(contents.counts), options);
  write.write_together();
  write.finish();
} catch (...) {
  throw;  // an exception that nobody catches would not remove what was written
}

#endif

}  // namespace shardtype::checkpoint::detail
