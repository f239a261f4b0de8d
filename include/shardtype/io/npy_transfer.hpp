#pragma once
/// The MPI-IO behind npy_file.hpp: outcomes that all ranks share, and slabs moved.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include <mpi.h>

#include <shardtype/io/npy_slabs.hpp>
#include <shardtype/runtime/error.hpp>

namespace shardtype {
namespace detail {

/// The first thing that went wrong on this rank.
struct NpyOutcome {
  std::string code, text;

  bool fine() const { return code.empty(); }
  void note(char const* its_code, std::string its_text) {
    if (!fine()) return;
    code = its_code;
    text = std::move(its_text);
  }
  /// Notes a failed MPI call, "cannot read A.npy: File does not exist".
  void note(char const* its_code, std::string const& what, int status) {
    if (status == MPI_SUCCESS) return;
    int kind = status, length = 0;
    char message[MPI_MAX_ERROR_STRING] = "";
    MPI_Error_class(status, &kind);  // the text of the class is a short one
    MPI_Error_string(kind, message, &length);
    note(its_code, what + ": " + std::string(message, static_cast<std::size_t>(length)));
  }
};

/// Collective. Throws on every rank the failure of the first rank that has one, if any has.
inline void agree(MPI_Comm comm, NpyOutcome outcome) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int const mine = outcome.fine() ? size : rank;
  int failed = size;
  MPI_Allreduce(&mine, &failed, 1, MPI_INT, MPI_MIN, comm);
  if (failed == size) return;
  for (std::string* part : {&outcome.code, &outcome.text}) {
    int length = static_cast<int>(part->size());
    MPI_Bcast(&length, 1, MPI_INT, failed, comm);
    part->resize(static_cast<std::size_t>(length));
    MPI_Bcast(part->data(), length, MPI_CHAR, failed, comm);
  }
  throw Error(outcome.code, outcome.text, FailedOn::every_rank);
}

/// Collective: opens the file on all ranks or throws on all.
inline MPI_File npy_open(MPI_Comm comm, std::string const& path, int mode, char const* code,
                         std::string const& what) {
  // MPI-IO takes what is before a colon for the name of a file system.
  std::string const name = path.find(':') == path.npos ? path : "ufs:" + path;
  MPI_File file = MPI_FILE_NULL;
  NpyOutcome outcome;
  outcome.note(code, what, MPI_File_open(comm, name.c_str(), mode, MPI_INFO_NULL, &file));
  agree(comm, outcome);  // a handle that only some ranks have cannot be closed, so it is left
  return file;
}

/// Sets this rank's view of the file to a slab: runs of contiguous bytes at even distances.
inline int npy_view(MPI_File file, std::int64_t data_offset, NpySlabs const& slabs,
                    NpySlab const& slab) {
  auto const& shape = slabs.shape();
  std::int64_t stride = slabs.element_bytes(), offset = data_offset, run = stride;
  bool whole = true;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  for (std::size_t d = shape.size(); d-- > 0; stride *= shape[d]) {
    offset += slab.begin[d] * stride;
    if (whole) run *= slab.count[d];
    if (whole && slab.count[d] == shape[d] && d > 0) continue;
    MPI_Datatype wider = MPI_DATATYPE_NULL;
    if (whole)
      MPI_Type_contiguous(static_cast<int>(run), MPI_BYTE, &wider);
    else
      MPI_Type_create_hvector(static_cast<int>(slab.count[d]), 1, MPI_Aint(stride), type, &wider);
    whole = false;
    if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);
    type = wider;
  }
  MPI_Type_commit(&type);
  int const status =
      MPI_File_set_view(file, MPI_Offset(offset), MPI_BYTE, type, "native", MPI_INFO_NULL);
  MPI_Type_free(&type);
  return status;
}

enum class NpyWay { read, write };

/// Collective: moves all slabs between the file and `block`, as many calls on each rank as on the
/// one with the most slabs, whatever fails meanwhile.
inline void npy_move(MPI_Comm comm, MPI_File file, std::int64_t data_offset, NpySlabs const& slabs,
                     NpyWay way, bool take_part, std::byte* block, NpyOutcome& outcome,
                     char const* code, std::string const& what) {
  std::int64_t const mine = take_part ? slabs.size() : 0;
  std::int64_t calls = 0;
  MPI_Allreduce(&mine, &calls, 1, MPI_INT64_T, MPI_MAX, comm);
  std::unique_ptr<std::byte[]> packed;
  if (mine > 0 && slabs.reversed()) {
    auto const bytes = static_cast<std::size_t>(slabs.largest() * slabs.element_bytes());
    packed.reset(new (std::nothrow) std::byte[bytes]);
    if (!packed) outcome.note(code, what + ": no memory for " + std::to_string(bytes) + " bytes");
  }
  for (std::int64_t s = 0; s < calls; ++s) {
    bool const idle = s >= mine || (slabs.reversed() && !packed);
    NpySlab const slab = idle ? NpySlab{} : slabs[s];
    int const view = idle ? MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL)
                          : npy_view(file, data_offset, slabs, slab);
    outcome.note(code, what, view);
    int const bytes = idle ? 0 : static_cast<int>(slab.elements * slabs.element_bytes());
    std::byte* const data = packed ? packed.get() : block + slab.at * slabs.element_bytes();
    if (way == NpyWay::write && packed && !idle) slabs.transpose(slab, data, block, false);
    outcome.note(code, what,
                 way == NpyWay::read
                     ? MPI_File_read_all(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                     : MPI_File_write_all(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    if (way == NpyWay::read && packed && !idle) slabs.transpose(slab, data, block, true);
  }
}

}  // namespace detail
}  // namespace shardtype
