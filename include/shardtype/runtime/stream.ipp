#pragma once
/// Definitions of stream.hpp.

#include <shardtype/runtime/stream.hpp>

namespace shardtype::runtime {

SHARDTYPE_INLINE void Stream::finish() {
  for (MPI_Request& r : received_) wait_for(r);
  for (MPI_Request& r : sent_) wait_for(r);
  come_ = static_cast<std::int64_t>(received_.size());
}

SHARDTYPE_INLINE bool Stream::test(MPI_Request& r) {
  if (r == MPI_REQUEST_NULL) return true;
  int done = 0;
  check_mpi(MPI_Test(&r, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

}  // namespace shardtype::runtime
