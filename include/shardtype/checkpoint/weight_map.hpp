#pragma once
/// Models in several safetensors files, with an index as Hugging Face writes it.

#include <map>
#include <string>
#include <string_view>

#include <mpi.h>

#include <shardtype/checkpoint/namespace.hpp>
#include <shardtype/core/compiled.hpp>

namespace shardtype::checkpoint::detail {

/// The file of each tensor by the tensor's name.
using WeightMap = std::map<std::string, std::string>;

/// The file of a model at `path`: in a folder `model.safetensors.index.json`, or else
/// `model.safetensors`; otherwise `path` itself.
std::string file_of_model(std::string const& path);

/// Whether `path` is an index, and no safetensors file.
inline bool is_index(std::string_view path) { return path.ends_with(".json"); }

/// The `weight_map` of the index `text`, whose files lie in the folder of `path`. Error E94, on
/// every rank: `text` is no index, or names a file in another folder.
WeightMap parse_index(std::string_view text, std::string const& path);

/// The index at `path` on all ranks. Collective: rank 0 reads it. Errors E94, IO1 on all ranks.
WeightMap read_index(MPI_Comm comm, int rank, std::string const& path);

}  // namespace shardtype::checkpoint::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/checkpoint/weight_map.ipp>
#endif
