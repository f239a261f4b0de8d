# ScaLAPACK for MPICH, beside which benchmarks and a test run: SHARDTYPE_SCALAPACK. The library itself never calls it.
include_guard(GLOBAL)
find_library(SHARDTYPE_SCALAPACK scalapack-mpich)
mark_as_advanced(SHARDTYPE_SCALAPACK)
