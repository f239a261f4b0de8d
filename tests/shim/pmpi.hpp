// Counts the payload bytes of this rank's MPI calls from their arguments alone. Link pmpi.cpp.
#pragma once

#include <cstdint>

namespace shim {

// Bytes since the last reset, by the convention of design: all_gather: received from others;
// reduce_scatter: sent to others; all_reduce: 2 n (p - 1) / p; all_to_all and messages: sent to
// others.
std::int64_t bytes();
void reset();

// Of these, those in messages to one rank of the job: what passes the link to its node. A
// collective of MPI's is not among them, because its arguments do not tell how it is sent.
inline constexpr int most_ranks = 64;
std::int64_t bytes_to(int rank);

}  // namespace shim
