// Counts the payload bytes of this rank's MPI calls from their arguments alone. Link pmpi.cpp.
#pragma once

#include <cstdint>

namespace shim {

// Bytes since the last reset, by the convention of design: all_gather: received from others;
// reduce_scatter: sent to others; all_reduce: 2 n (p - 1) / p; all_to_all and messages: sent to
// others.
std::int64_t bytes();
void reset();

}  // namespace shim
