#pragma once
/// Definitions of link.hpp.

#include <shardtype/runtime/link.hpp>

namespace shardtype::runtime {

SHARDTYPE_INLINE int Link::place(detail::List<int> const& ranks, int rank) {
  int low = 0;
  int high = static_cast<int>(ranks.size());
  while (high - low > 1) {
    int const middle = (low + high) / 2;
    (ranks[static_cast<std::size_t>(middle)] <= rank ? low : high) = middle;
  }
  return low;
}

SHARDTYPE_INLINE MPI_Comm Link::make(detail::List<int> const& ranks) {
  Agreement::meet_before_mesh(ranks, "the first transfer between two meshes", 1);
  MPI_Group job = MPI_GROUP_NULL;
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &job);
  MPI_Group_incl(job, static_cast<int>(ranks.size()), ranks.data(), &members);
  int const status = MPI_Comm_create_group(MPI_COMM_WORLD, members, tag, &made);
  MPI_Group_free(&members);
  MPI_Group_free(&job);
  check_mpi(status, "MPI_Comm_create_group");
  return made;
}

}  // namespace shardtype::runtime
