#pragma once
/// The MPI-IO behind npy_file.hpp: errors shared by all ranks, and transfers of slabs.

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include <mpi.h>

#include <shardtype/core/error.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/io/npy_slabs.hpp>
#include <shardtype/runtime/comm.hpp>

namespace shardtype {
namespace detail {

/// The first failure on this rank.
struct NpyOutcome {
  std::string code, text;

  bool fine() const { return code.empty(); }
  void note(char const* its_code, std::string its_text) {
    if (!fine()) return;
    code = its_code;
    text = std::move(its_text);
  }
  /// Records a failed MPI call, "cannot read A.npy: File does not exist".
  void note(char const* its_code, std::string const& what, int status) {
    if (status == MPI_SUCCESS) return;
    int kind = status, length = 0;
    char message[MPI_MAX_ERROR_STRING] = "";
    MPI_Error_class(status, &kind);  // a class has a short text, except for "other"
    MPI_Error_string(kind == MPI_ERR_IO ? status : kind, message, &length);
    while (length > 0 && (message[length - 1] == ' ' || message[length - 1] == '\n')) --length;
    std::string const why(message, static_cast<std::size_t>(length));
    auto const line = why.rfind('\n');  // the last line of a long text is the most specific
    note(its_code, what + ": " + (line == why.npos ? why : why.substr(line + 1)));
  }
};

/// Throws on every rank the failure of the first rank that has one, if any. Collective.
inline void npy_agree(MPI_Comm comm, NpyOutcome outcome) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  auto const failed = static_cast<int>(reduce_number(comm, outcome.fine() ? size : rank, MPI_MIN));
  if (failed == size) return;
  share_text(comm, outcome.code, failed);
  share_text(comm, outcome.text, failed);
  throw Error(outcome.code, outcome.text, FailedOn::every_rank);
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

/// A file that is open on the ranks of a communicator. Failures are recorded and do not change the
/// number of collective calls; npy_agree reports them to all ranks later.
class NpyTransfer {
 public:
  NpyOutcome outcome;

  /// Messages name the file `path`; its bytes are written to `place`.
  NpyTransfer(MPI_Comm comm, NpyWay way, std::string const& path, std::string const& place)
      : comm_(comm),
        way_(way),
        // MPI-IO interprets the part before a colon as a file system
        name_(place.find(':') == place.npos ? place : "ufs:" + place),
        what_((way == NpyWay::read ? "cannot read " : "cannot write ") + path) {}

  NpyTransfer(NpyTransfer const&) = delete;
  NpyTransfer& operator=(NpyTransfer const&) = delete;
  /// Only a file of a single rank can be closed without the other ranks.
  ~NpyTransfer() {
    if (comm_ == MPI_COMM_SELF && file_ != MPI_FILE_NULL) MPI_File_close(&file_);
  }

  void open() {
    int const mode = way_ == NpyWay::read ? MPI_MODE_RDONLY : MPI_MODE_CREATE | MPI_MODE_WRONLY;
    // Sieved writes read a range, change their part and write it back: ranks that write interleaved
    // elements would overwrite each other.
    MPI_Info hints = MPI_INFO_NULL;
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "romio_ds_write", "disable");
    check(MPI_File_open(comm_, name_.c_str(), mode, hints, &file_));
    MPI_Info_free(&hints);
  }
  void close() { check(MPI_File_close(&file_)); }
  MPI_File file() const { return file_; }
  void fail(std::string const& why) { outcome.note(code(), what_ + ": " + why); }
  void check(int status) {
    int kind = MPI_SUCCESS;
    if (status != MPI_SUCCESS) MPI_Error_class(status, &kind);
    if (way_ == NpyWay::write && kind == MPI_ERR_NO_SUCH_FILE) fail("its directory does not exist");
    outcome.note(code(), what_, status);
  }

  /// Moves all slabs between the file and `block`. Collective: every rank makes as many calls as
  /// the one with the most slabs, also after a failure.
  void move(std::int64_t data_offset, NpySlabs const& slabs, bool take_part, std::byte* block) {
    std::int64_t const mine = take_part ? slabs.size() : 0;
    std::int64_t const calls = reduce_number(comm_, mine, MPI_MAX);
    List<std::byte> packed;
    if (mine > 0 && slabs.reversed()) {
      auto const bytes = static_cast<std::size_t>(slabs.largest() * slabs.element_bytes());
      try {
        packed.resize(bytes);
      } catch (std::bad_alloc const&) {
        fail("no memory for " + std::to_string(bytes) + " bytes");
      }
    }
    for (std::int64_t s = 0; s < calls; ++s) {
      bool const idle = s >= mine || (slabs.reversed() && packed.empty());
      if (idle) {
        check(MPI_File_set_view(file_, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
        check(call(block, 0));
        continue;
      }
      NpySlab const slab = slabs[s];
      std::byte* const data =
          !packed.empty() ? packed.data() : block + slab.at * slabs.element_bytes();
      check(npy_view(file_, data_offset, slabs, slab));
      if (way_ == NpyWay::write && !packed.empty()) slabs.transpose(slab, data, block, false);
      check(call(data, static_cast<int>(slab.elements * slabs.element_bytes())));
      if (way_ == NpyWay::read && !packed.empty()) slabs.transpose(slab, data, block, true);
    }
  }

 private:
  char const* code() const { return way_ == NpyWay::read ? "IO1" : "IO8"; }
  int call(std::byte* data, int bytes) {
    return way_ == NpyWay::read
               ? MPI_File_read_all(file_, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE)
               : MPI_File_write_all(file_, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  }

  MPI_Comm comm_;
  NpyWay way_;
  std::string name_, what_;
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace detail
}  // namespace shardtype
