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

#include <shardtype/io/npy_transfer.hpp>
#include <shardtype/runtime/comm.hpp>

namespace shardtype::detail {

/// Rank 0 chooses the file to which the bytes are written first, and renames it at the end; if
/// writing is not completed, it removes the file. A path that is not a regular file (a device) is
/// written directly. A link stays a link.
class NpyReplacement {
 public:
  NpyReplacement(MPI_Comm comm, std::string const& path) : path_(path) {
    MPI_Comm_rank(comm, &rank_);
    if (rank_ == 0) decide();
    share_text(comm, written_, 0);
  }
  NpyReplacement(NpyReplacement const&) = delete;
  NpyReplacement& operator=(NpyReplacement const&) = delete;
  ~NpyReplacement() {
    if (rank_ == 0 && written_ != place_) unlink(written_.c_str());
  }

  /// The path to which the bytes are written.
  std::string const& written() const { return written_; }
  /// Completes the replacement on rank 0, after all bytes are written.
  void finish(NpyOutcome& outcome) {
    if (rank_ != 0 || written_ == place_) return;
    if (mode_ != 0) chmod(written_.c_str(), mode_);
    if (std::rename(written_.c_str(), place_.c_str()) != 0) {
      outcome.note("IO8", "cannot write " + path_ + ": " + std::strerror(errno));
      return;
    }
    written_ = place_;
  }

 private:
  void decide() {
    place_ = path_;
    struct stat status = {};
    bool in_place = false;
    if (char* const real = realpath(path_.c_str(), nullptr)) {
      place_ = real;
      std::free(real);
      if (stat(place_.c_str(), &status) == 0) {
        mode_ = status.st_mode & 07777U;
        in_place = !S_ISREG(status.st_mode);
      }
    } else {
      in_place = lstat(path_.c_str(), &status) == 0;  // a link to a file that does not exist yet
    }
    written_ = in_place ? place_ : place_ + ".partial";
  }

  std::string path_, place_, written_;
  int rank_ = 0;
  mode_t mode_ = 0;
};

}  // namespace shardtype::detail
