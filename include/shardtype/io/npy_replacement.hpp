#pragma once
/// Replaces a file only after the new one is complete: at its path is either the old file or the
/// whole new one.

#include <string>

#include <mpi.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/io/npy_transfer.hpp>
#include <shardtype/runtime/comm.hpp>
#include <shardtype/runtime/files.hpp>

namespace shardtype::detail {

/// Rank 0 creates the file to which the bytes are written first, under a name that no other file
/// has; the other ranks open it. At the end rank 0 renames it; if writing is not completed, it
/// removes it.
class NpyReplacement {
 public:
  NpyOutcome outcome;

  NpyReplacement(MPI_Comm comm, std::string const& path);
  NpyReplacement(NpyReplacement const&) = delete;
  NpyReplacement& operator=(NpyReplacement const&) = delete;

  /// The path to which the bytes are written.
  std::string const& written() const { return written_; }
  /// Completes the replacement on rank 0, after all bytes are written.
  void finish();

 private:
  void note(int fault);

  std::string path_, written_;
  int rank_ = 0;
  runtime::ReplacedFile file_;  ///< of rank 0
};

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/io/npy_replacement.ipp>
#endif
