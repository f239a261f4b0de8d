#pragma once
/// Definitions of npy_replacement.hpp.

#include <cerrno>

#include <shardtype/io/npy_replacement.hpp>

namespace shardtype::detail {

SHARDTYPE_INLINE NpyReplacement::NpyReplacement(MPI_Comm comm, std::string const& path)
    : path_(path) {
  MPI_Comm_rank(comm, &rank_);
  if (rank_ == 0) {
    note(file_.create(path));
    written_ = file_.written();
  }
  detail::share_text(comm, written_, 0);
}

SHARDTYPE_INLINE void NpyReplacement::finish() {
  if (rank_ == 0) note(file_.finish());
}

SHARDTYPE_INLINE void NpyReplacement::note(int fault) {
  if (fault == 0) return;
  outcome.note("IO8", "cannot write " + path_ + ": " +
                          (fault == ENOENT ? "its directory does not exist"
                                           : runtime::file_fault_text(fault)));
}

}  // namespace shardtype::detail
