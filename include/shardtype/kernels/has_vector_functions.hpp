#pragma once
/// Whether elementary functions are computed in vectors: defines SHARDTYPE_VECTOR_FUNCTIONS.

#include <Kokkos_Core.hpp>

// Not in programs for devices: one header would give host and device units different functions.
#if defined(SHARDTYPE_HAVE_LIBMVEC) && defined(__x86_64__) && !defined(KOKKOS_ENABLE_CUDA) && \
    !defined(KOKKOS_ENABLE_HIP) && !defined(KOKKOS_ENABLE_SYCL)
#define SHARDTYPE_VECTOR_FUNCTIONS 1
#endif
