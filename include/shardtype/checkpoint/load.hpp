#pragma once
/// Loads a model and the state of its optimizer, in any sharding, on any mesh.

#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mpi.h>

#include <shardtype/checkpoint/entries.hpp>
#include <shardtype/checkpoint/extra.hpp>
#include <shardtype/checkpoint/manifest.hpp>
#include <shardtype/checkpoint/namespace.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/core/running_call.hpp>
#include <shardtype/io/npy_transfer.hpp>
#include <shardtype/runtime/mesh.hpp>

namespace shardtype::checkpoint {

/// The values that were loaded beside the tensors.
struct Loaded {
  std::int64_t step = 0;
  std::string folder;  ///< of the step
  Extra extra;
};

/// A step of a run.
struct Step {
  std::int64_t number = 0;
  std::string folder;
};

/// The options of `load`.
struct LoadOptions {
  /// Whether the files may have tensors that the program does not have.
  bool ignore_others = false;
};

/// The step that a run's `latest` names; none if the run has no step. Collective over the mesh: its
/// first rank looks, so that all ranks get the same answer where they see other files, or see them
/// later. Ranks outside of it look themselves.
std::optional<Step> latest(runtime::MeshRef const& mesh, std::string const& run);

namespace detail {

/// Reads this rank's block from a file that is open on the ranks of `comm`, and adds the sums of
/// the first holder's. Collective.
void read_tensor(shardtype::detail::NpyTransfer& in, io::NpyAccess const& access,
                 LoadedTensor const& tensor, std::int64_t at, std::uint64_t* sums);

/// Compares the program's tensors with the checkpoint's: errors E91, E92, E93. `parts`: all of the
/// program's.
void compare(std::vector<LoadedTensor> const& tensors, Manifest const& manifest,
             std::string const& folder, LoadOptions const& options);

/// Loads what the mesh's ranks have; on ranks outside of it only the manifest is read.
Manifest load_now(Tensors<LoadedTensor> const& tensors, std::string const& path,
                  std::string& folder, LoadOptions const& options,
                  std::source_location const& where);

/// A model, and a state if there is one.
template <class Model, class... State>
Loaded load_all(std::string const& path, LoadOptions const& options,
                std::source_location const& where, Model& model, State&... state) {
  static_assert(has_json<Model>,
                "checkpoints need nlohmann-json: install nlohmann-json3-dev and configure again");
  Tensors<LoadedTensor> tensors;
  tensors.add("model", {}, model, where);
  (tensors.add_state(state, where), ...);
  Loaded out;
  Manifest const manifest = load_now(tensors, path, out.folder, options, where);
  ((state.step = manifest.counts.get<std::int64_t>("state.step")), ...);
  out.step = manifest.step;
  out.extra = manifest.extra;
  return out;
}

}  // namespace detail

/// Loads a model from the latest step of a run, or from the folder of a step, into its tensors:
/// each must be in the checkpoint with its name, extents and element type; mesh, sharding and
/// number of ranks may be others. Each rank reads its own blocks through MPI-IO. Every element is
/// checked once, by the rank that is its first holder. Names, types, extents and sizes of files are
/// compared before a tensor is changed; after a checksum that differs, or a read that fails, the
/// tensors have new values, damaged ones too. Collective over the mesh of the tensors, which is one
/// (Error E23); sent are the manifest and the checksums; of cyclic dims one all_to_all
/// redistributes nested blocks. Errors, the same on every rank: E90 no checkpoint, E91 names that
/// differ, E92 extents, E93 element types, E94 damaged, IO1 it cannot be read, IO6 a file has
/// become shorter. Ranks outside of the mesh read the manifest by themselves.
template <class Model>
  requires(!std::is_const_v<Model>)
Loaded load(std::string const& path, Model& model, LoadOptions const& options = {},
            std::source_location const& where = std::source_location::current()) {
  core::RunningCall const running("checkpoint::load", where);
  return detail::load_all(path, options, where, model);
}
/// Loads a model, and the state of its optimizer into `state`, which is that of `init(model)`.
template <class Model, class State>
  requires(train::is_state<State> && !std::is_const_v<Model>)
Loaded load(std::string const& path, Model& model, State& state, LoadOptions const& options = {},
            std::source_location const& where = std::source_location::current()) {
  core::RunningCall const running("checkpoint::load", where);
  return detail::load_all(path, options, where, model, state);
}

}  // namespace shardtype::checkpoint

#ifndef SHARDTYPE_COMPILED
#include <shardtype/checkpoint/load.ipp>
#endif
