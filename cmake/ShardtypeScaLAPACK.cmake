# ScaLAPACK for MPICH as Shardtype::ScaLAPACK, beside which benchmarks and a test run. The library itself never calls it.
include_guard(GLOBAL)
find_library(SHARDTYPE_SCALAPACK scalapack-mpich)
mark_as_advanced(SHARDTYPE_SCALAPACK)
if(SHARDTYPE_SCALAPACK)
  add_library(Shardtype::ScaLAPACK INTERFACE IMPORTED GLOBAL)
  set_target_properties(Shardtype::ScaLAPACK PROPERTIES INTERFACE_LINK_LIBRARIES "${SHARDTYPE_SCALAPACK}")
endif()
