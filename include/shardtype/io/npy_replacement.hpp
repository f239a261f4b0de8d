#pragma once
/// Replaces a file only after the new one is complete: at its path is either the old file or the
/// whole new one.

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <shardtype/core/compiled.hpp>
#include <shardtype/io/npy_transfer.hpp>
#include <shardtype/runtime/comm.hpp>

namespace shardtype::detail {

/// Rank 0 chooses the file to which the bytes are written first, and renames it at the end; if
/// writing is not completed, it removes the file. A path that is not a regular file (a device) is
/// written directly. A link stays a link.
class NpyReplacement {
 public:
  NpyReplacement(MPI_Comm comm, std::string const& path);
  NpyReplacement(NpyReplacement const&) = delete;
  NpyReplacement& operator=(NpyReplacement const&) = delete;
  ~NpyReplacement() {
    if (rank_ == 0 && written_ != place_) unlink(written_.c_str());
  }

  /// The path to which the bytes are written.
  std::string const& written() const { return written_; }
  /// Completes the replacement on rank 0, after all bytes are written.
  void finish(NpyOutcome& outcome);

 private:
  void decide();

  std::string path_, place_, written_;
  int rank_ = 0;
  mode_t mode_ = 0;
};

}  // namespace shardtype::detail

#ifndef SHARDTYPE_COMPILED
#include <shardtype/io/npy_replacement.ipp>
#endif
