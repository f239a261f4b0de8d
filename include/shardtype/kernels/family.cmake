# cuBLAS, Shardtype::cuBLAS: products on the device where Kokkos is built for CUDA, unless SHARDTYPE_BLAS is OFF.
list(APPEND shardtype_family_targets Shardtype::cuBLAS)
list(APPEND shardtype_family_choices SHARDTYPE_BLAS)
if((Kokkos_ENABLE_CUDA OR "CUDA" IN_LIST Kokkos_DEVICES) AND (SHARDTYPE_BLAS OR NOT DEFINED SHARDTYPE_BLAS))
  find_package(CUDAToolkit QUIET)
  if(TARGET CUDA::cublas AND NOT TARGET Shardtype::cuBLAS)
    add_library(Shardtype::cuBLAS INTERFACE IMPORTED)
    set_target_properties(
      Shardtype::cuBLAS PROPERTIES INTERFACE_LINK_LIBRARIES CUDA::cublas INTERFACE_COMPILE_DEFINITIONS
                                                                         SHARDTYPE_HAVE_CUBLAS=1)
  endif()
endif()
