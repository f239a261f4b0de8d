#pragma once
/// The MPI-IO behind npy_file.hpp: errors shared by all ranks, and transfers of slabs.

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include <mpi.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/core/error.hpp>
#include <shardtype/core/list.hpp>
#include <shardtype/io/npy_slabs.hpp>
#include <shardtype/runtime/comm.hpp>

namespace shardtype::detail {

/// The first failure on this rank.
struct NpyOutcome {
  std::string code, text;

  bool fine() const { return code.empty(); }
  void note(char const* its_code, std::string its_text);
  /// Records a failed MPI call, "cannot read A.npy: File does not exist".
  void note(char const* its_code, std::string const& what, int status);
};

/// Throws on every rank the failure of the first rank that has one, if any. Collective.
void npy_agree(MPI_Comm comm, NpyOutcome outcome);

/// Sets this rank's view of the file to a slab: runs of contiguous bytes at even distances.
int npy_view(MPI_File file, std::int64_t data_offset, NpySlabs const& slabs, NpySlab const& slab);

inline std::string npy_too_short(std::string const& path, std::int64_t has, std::int64_t wants) {
  return path + " has " + std::to_string(has) + " bytes, its header promises " +
         std::to_string(wants) + ": the file is cut off";
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
        path_(path),
        what_((way == NpyWay::read ? "cannot read " : "cannot write ") + path) {}

  NpyTransfer(NpyTransfer const&) = delete;
  NpyTransfer& operator=(NpyTransfer const&) = delete;
  /// Only a file of a single rank can be closed without the other ranks.
  ~NpyTransfer() {
    if (comm_ == MPI_COMM_SELF && file_ != MPI_FILE_NULL) MPI_File_close(&file_);
  }

  void open();
  /// Puts what this rank has written on the disk.
  void sync() { check(MPI_File_sync(file_)); }
  void close() { check(MPI_File_close(&file_)); }
  MPI_File file() const { return file_; }
  /// Error IO6 if the open file has fewer bytes: before a transfer, and after it, for MPI-IO does
  /// not tell of all reads that they are short.
  void check_bytes(std::int64_t least);
  /// Checks the same on all ranks of `comm`, which have the file open, and throws on all of them if
  /// one fails. Collective.
  void require_bytes(MPI_Comm comm, std::int64_t least);
  void fail(std::string const& why) { outcome.note(code(), what_ + ": " + why); }
  void check(int status);

  /// Moves all slabs between the file and `block`. Collective: every rank makes as many calls as
  /// the one with the most slabs, also after a failure.
  void move(std::int64_t data_offset, NpySlabs const& slabs, bool take_part, std::byte* block);

 private:
  char const* code() const { return way_ == NpyWay::read ? "IO1" : "IO8"; }
  int call(std::byte* data, int bytes);

  MPI_Comm comm_;
  NpyWay way_;
  std::string name_, path_, what_;
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/io/npy_transfer.ipp>
#endif
