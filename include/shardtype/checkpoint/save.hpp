#pragma once
/// Saves a model and the state of its optimizer.

#include <cstdint>
#include <source_location>
#include <string>

#include <shardtype/checkpoint/entries.hpp>
#include <shardtype/checkpoint/extra.hpp>
#include <shardtype/checkpoint/namespace.hpp>
#include <shardtype/checkpoint/step_write.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/core/running_call.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::checkpoint {

namespace detail {

/// Error E95.
void check_step(std::int64_t step);

/// A model's and a state's tensors, and the numbers of the state.
struct Contents {
  Tensors<SavedTensor> tensors;
  Extra counts;

  template <class Model, class... State>
  Contents(std::source_location const& where, Model const& model, State const&... state) {
    static_assert(has_json<Model>,
                  "checkpoints need nlohmann-json: install nlohmann-json3-dev and configure again");
    tensors.add("model", {}, model, where);
    (counts.set("state.step", state.step), ...);
    (tensors.add_state(state, where), ...);
  }
};

void save_now(Contents contents, std::string const& run, std::int64_t step, Extra const& extra,
              Options const& options, std::source_location const& where);

}  // namespace detail

/// Saves a model as the step `step` of a run, in the folder `run`/step_00000100: model.safetensors,
/// whose tensors have the names of train::for_each_tensor, and manifest.json. Each element is
/// written once, through MPI-IO, by the first rank that holds it. The folder gets its name when all
/// is on the disk, and then `run`/latest names it; whatever fails before, or is killed, leaves what
/// was saved before as it was. `extra`: numbers and texts, those of the mesh's first rank; under
/// SHARDTYPE_CHECK=agree these, the step and the state's step must be the same on all ranks (E03).
/// Collective over the mesh of the tensors, which is one (Error E23); sent are the checksums, and
/// the outcome; of cyclic dims one all_to_all creates nested blocks first. Errors, the same on
/// every rank: IO8 it cannot be written, E95 a negative step, or a value that is no UTF-8, E91 two
/// tensors have one name.
template <class Model>
void save(std::string const& run, std::int64_t step, Model const& model, Extra const& extra = {},
          Options const& options = {},
          std::source_location const& where = std::source_location::current()) {
  core::RunningCall const running("checkpoint::save", where);
  detail::save_now({where, model}, run, step, extra, options, where);
}
/// Saves a model and the state of its optimizer, whose tensors are in state.safetensors:
/// "moments.0.blocks.3.wq", "master.blocks.3.wq".
template <class Model, class State>
  requires train::is_state<State>
void save(std::string const& run, std::int64_t step, Model const& model, State const& state,
          Extra const& extra = {}, Options const& options = {},
          std::source_location const& where = std::source_location::current()) {
  core::RunningCall const running("checkpoint::save", where);
  detail::save_now({where, model, state}, run, step, extra, options, where);
}

}  // namespace shardtype::checkpoint

#ifndef SHARDTYPE_COMPILED
#include <shardtype/checkpoint/save.ipp>
#endif
