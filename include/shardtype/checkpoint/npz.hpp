#pragma once
/// Single files of NumPy's arrays (.npz), for other programs and from them.

#include <source_location>
#include <string>
#include <type_traits>

#include <shardtype/checkpoint/entries.hpp>
#include <shardtype/checkpoint/namespace.hpp>
#include <shardtype/checkpoint/safetensors.hpp>
#include <shardtype/checkpoint/zip.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/core/running_call.hpp>

namespace shardtype::checkpoint {

namespace detail {

void save_arrays(Tensors<SavedTensor> const& tensors, std::string const& path,
                 std::source_location const& where);
void load_arrays(Tensors<LoadedTensor> const& tensors, std::string const& path, bool ignore_others,
                 std::source_location const& where);

}  // namespace detail

/// Saves a model as one .npz file, which numpy.load reads: an array "blocks.3.wq" for each tensor,
/// not compressed. The file that is there is replaced when the new one is on the disk. Collective
/// over the mesh of the tensors; each element is written once, through MPI-IO, and the first rank
/// computes the checksums that the format has. Sends the outcome; of cyclic dims one all_to_all.
/// Needs no nlohmann-json. Errors, the same on every rank: IO8 it cannot be written, E91 two
/// tensors have one name, or one that NumPy would not read, E93 a tensor of bfloat16, which NumPy
/// does not have.
template <class Model>
void save_npz(std::string const& path, Model const& model, FileOptions const& options = {},
              std::source_location const& where = std::source_location::current()) {
  core::RunningCall const running("checkpoint::save_npz", where);
  detail::save_arrays(detail::tensors_of_file<detail::SavedTensor>(model, options, where), path,
                      where);
}

/// Loads a model from one .npz file of numpy.savez into its tensors, in any sharding. The checksums
/// of these arrays are compared before a tensor is changed: each rank reads a share of their bytes
/// for it. Collective over the mesh of the tensors; each rank reads its own blocks. Sends names,
/// types, shapes and checksums; of cyclic dims one all_to_all. Errors, the same on every rank: E91
/// names that differ, E92 extents, E93 element types, E94 no .npz file, one that is damaged, cut
/// off or compressed, or an array in Fortran's order, IO1 it cannot be read, IO6 it has become
/// shorter.
template <class Model>
  requires(!std::is_const_v<Model>)
void load_npz(std::string const& path, Model& model, FileOptions const& options = {},
              std::source_location const& where = std::source_location::current()) {
  core::RunningCall const running("checkpoint::load_npz", where);
  detail::load_arrays(detail::tensors_of_file<detail::LoadedTensor>(model, options, where), path,
                      options.ignore_others, where);
}

}  // namespace shardtype::checkpoint

#ifndef SHARDTYPE_COMPILED
#include <shardtype/checkpoint/npz.ipp>
#endif
