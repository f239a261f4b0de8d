#pragma once
/// Safetensors files, for other programs and from them.

#include <functional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <shardtype/checkpoint/entries.hpp>
#include <shardtype/checkpoint/header.hpp>
#include <shardtype/checkpoint/namespace.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/core/running_call.hpp>

namespace shardtype::checkpoint {

/// The name of a tensor in a file of another program, and how the file has its dims.
struct NameInFile {
  std::string name;  ///< empty: the tensor is not in the file
  /// Whether the file has the dims in the reverse order, as PyTorch's Linear has the weights [out,
  /// in] of our [in, out].
  bool transposed = false;
  /// How many neighbouring dims are one dim in the file: {1, 3} if it has [D, 3 H F] for our [D, Q,
  /// H, F]. They are counted in the file's order. Empty: each dim is one of the file's.
  std::vector<int> merged{};
};

/// The options for reading and writing a file of another program.
struct FileOptions {
  /// The name in the file of the tensor at a path, as in train::for_each_tensor; without it the
  /// path is the name.
  std::function<NameInFile(std::string_view path)> names{};
  bool ignore_others = false;  ///< whether the file may have tensors that are not read
  Metadata metadata{};         ///< texts that are written
};

namespace detail {

/// A model's tensors with the names of the file, without those that are not in it.
template <class One, class Model>
Tensors<One> tensors_of_file(Model& model, FileOptions const& options,
                             std::source_location const& where) {
  Tensors<One> out;
  out.add("file", {}, model, where);
  if (!options.names) return out;
  std::vector<One> kept;
  for (One& t : out.list) {
    NameInFile to = options.names(t.name);
    if (to.name.empty()) continue;
    t.name = std::move(to.name);
    t.transposed = to.transposed;
    t.merged = std::move(to.merged);
    detail::check_merged(t);
    kept.push_back(std::move(t));
  }
  out.list = std::move(kept);
  return out;
}

/// Writes a file whose header is `start`, and whose tensors are where `header` says;
/// `finish(written)`, on rank 0 when all bytes are on the disk, may change the file, and returns an
/// errno. Collective over the mesh.
void write_file(runtime::MeshState& mesh, Tensors<SavedTensor> const& tensors,
                std::string const& path, FileHeader const& header, std::string const& start,
                std::function<int(std::string const&)> const& finish);
/// Compares names, shapes and types (E91, E92, E93), calls `check`, and reads the blocks. `mesh`:
/// null on ranks outside of it, which only compare.
void read_file(runtime::MeshState* mesh, Tensors<LoadedTensor> const& tensors,
               std::string const& path, FileHeader const& header, bool ignore_others,
               std::function<void()> const& check = {});

void save_file(Tensors<SavedTensor> const& tensors, std::string const& path, Metadata metadata,
               std::source_location const& where);
Metadata load_file(Tensors<LoadedTensor> const& tensors, std::string const& path,
                   bool ignore_others, std::source_location const& where);

}  // namespace detail

/// Saves a model as one safetensors file; the file that is there is replaced when the new one is on
/// the disk. Complex numbers are pairs in a last dim. Collective over the mesh of the tensors; each
/// element is written once, through MPI-IO. Sends the outcome; of cyclic dims one all_to_all.
/// Errors, the same on every rank: IO8 it cannot be written, E91 two tensors have one name, or one
/// that nobody could read, E95 a text that is no UTF-8.
template <class Model>
void save_safetensors(std::string const& path, Model const& model, FileOptions const& options = {},
                      std::source_location const& where = std::source_location::current()) {
  static_assert(
      detail::has_json<Model>,
      "safetensors files need nlohmann-json: install nlohmann-json3-dev and configure again");
  core::RunningCall const running("checkpoint::save_safetensors", where);
  detail::save_file(detail::tensors_of_file<detail::SavedTensor>(model, options, where), path,
                    options.metadata, where);
}

/// Loads a model from safetensors files into its tensors, in any sharding; returns the files'
/// texts. `path` is a file, or an index of several files as Hugging Face writes it
/// (`model.safetensors.index.json`), or a folder with such an index or with `model.safetensors`.
/// Such files have no checksums. Names, types and extents are compared in all files before a tensor
/// is changed. Collective over the mesh of the tensors; each rank reads its own blocks. Sends the
/// headers, and the index; of cyclic dims one all_to_all. Errors, the same on every rank: E91 names
/// that differ, E92 extents, E93 element types, E94 no safetensors file as Python's package reads
/// them, one that is cut off, or no index, IO1 it cannot be read, IO6 it has become shorter.
template <class Model>
  requires(!std::is_const_v<Model>)
Metadata load_safetensors(std::string const& path, Model& model, FileOptions const& options = {},
                          std::source_location const& where = std::source_location::current()) {
  static_assert(
      detail::has_json<Model>,
      "safetensors files need nlohmann-json: install nlohmann-json3-dev and configure again");
  core::RunningCall const running("checkpoint::load_safetensors", where);
  return detail::load_file(detail::tensors_of_file<detail::LoadedTensor>(model, options, where),
                           path, options.ignore_others, where);
}

}  // namespace shardtype::checkpoint

#ifndef SHARDTYPE_COMPILED
#include <shardtype/checkpoint/safetensors.ipp>
#endif
