#pragma once
/// The header of a safetensors file: names, element types, shapes and places of its tensors. As the
/// package safetensors of Python writes and reads them.

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <mpi.h>

#include <shardtype/checkpoint/entries.hpp>
#include <shardtype/checkpoint/json_reader.hpp>
#include <shardtype/checkpoint/namespace.hpp>
#include <shardtype/core/compiled.hpp>
#include <shardtype/io/npy_header.hpp>
#include <shardtype/io/npy_transfer.hpp>
#include <shardtype/runtime/comm.hpp>

namespace shardtype::checkpoint {

/// Texts of a safetensors file by their names.
using Metadata = std::map<std::string, std::string>;

namespace detail {

/// A tensor of a file.
struct InFile {
  std::string name, dtype;
  io::NpyInts shape;
  std::int64_t begin = 0;  ///< its first byte after the header
  std::int64_t end = 0;
};

struct FileHeader {
  std::vector<InFile> tensors;
  Metadata metadata;
  std::int64_t data_offset = 0;  ///< bytes before the first element

  InFile const* find(std::string_view name) const { return find_named(tensors, name); }
  std::int64_t file_bytes() const;
};

/// "[3, 4]".
std::string shape_text(io::NpyInts const& shape);

/// Places of these tensors of one file, without gaps; those with the largest elements are first, so
/// that all are aligned.
FileHeader arrange(std::vector<Entry const*> const& tensors, Metadata metadata);

/// The bytes before the data; sets `data_offset`. Error E91, on every rank: they are more than a
/// header may have.
std::string format(FileHeader& header);

/// Error E91, on every rank: two of these tensors would have one name in `path`, or a name has
/// bytes that no program reads there. `reserved`: a name that the file needs for itself.
void check_names(std::vector<std::string_view> names, std::string const& path,
                 std::string_view reserved = {});

/// A tensor of this name whose description, an object with "dtype", "shape" and "data_offsets",
/// comes next; `other(member)` reads what else it may have.
InFile read_in_file(JsonReader& in, std::string const& name,
                    std::function<void(std::string const&)> const& other);

/// Why these are no tensors of a file with `data_bytes` bytes behind its header: each must have the
/// bytes of its type and shape, and all together each byte once; no two have one name. Empty: they
/// are.
std::string wrong_layout(std::vector<InFile const*> tensors, std::int64_t data_bytes);

/// Error E94: these bytes of the file `path`, of `file_bytes` bytes in all, are no header as the
/// package of Python reads them, or the file is cut off.
FileHeader parse(std::string_view text, std::string const& path, std::int64_t file_bytes);

/// The bytes before the data of the file at `path`, and the number of all its bytes: read by rank
/// 0, which has all to itself. Empty with `outcome` E94 or IO1.
std::string header_text(std::string const& path, std::int64_t& file_bytes,
                        shardtype::detail::NpyOutcome& outcome);

/// On all ranks what `read(outcome)` returns on rank 0. Collective. Errors E94, IO1 on all ranks.
template <class Read>
std::string text_from_first(MPI_Comm comm, int rank, std::string const& path, Read read) {
  shardtype::detail::NpyOutcome outcome;
  std::string text;
  try {
    if (rank == 0) text = read(outcome);
  } catch (std::exception const& failure) {
    outcome.note("IO1", "cannot read " + path + ": " + failure.what());
  }
  shardtype::detail::npy_agree(comm, outcome);
  shardtype::detail::share_text(comm, text, 0);
  return text;
}

/// The header on all ranks. Collective: rank 0 reads it. Errors E94, IO1 on all ranks.
FileHeader read_header(MPI_Comm comm, int rank, std::string const& path);

/// Errors E92 and E93: the file's tensor is not as the program's.
void compare(Entry const& wanted, InFile const& found, std::string const& path);

/// "tensor \"blocks.3.wq\" of run/step_00000100/model.safetensors".
inline std::string tensor_of_file(std::string_view name, std::string const& path) {
  return "tensor \"" + io::shortened(name) + "\" of " + path;
}

}  // namespace detail

}  // namespace shardtype::checkpoint

#ifndef SHARDTYPE_COMPILED
#include <shardtype/checkpoint/header.ipp>
#endif
