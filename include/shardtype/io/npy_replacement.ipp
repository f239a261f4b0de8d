#pragma once
/// Definitions of npy_replacement.hpp.

#include <shardtype/io/npy_replacement.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE NpyReplacement::NpyReplacement(MPI_Comm comm, std::string const& path)
    : path_(path) {
  MPI_Comm_rank(comm, &rank_);
  if (rank_ == 0) decide();
  share_text(comm, written_, 0);
}

SHARDTYPE_INLINE void NpyReplacement::finish(NpyOutcome& outcome) {
  if (rank_ != 0 || written_ == place_) return;
  if (mode_ != 0) chmod(written_.c_str(), mode_);
  if (std::rename(written_.c_str(), place_.c_str()) != 0) {
    outcome.note("IO8", "cannot write " + path_ + ": " + std::strerror(errno));
    return;
  }
  written_ = place_;
}

SHARDTYPE_INLINE void NpyReplacement::decide() {
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

}  // namespace shardtype::detail
