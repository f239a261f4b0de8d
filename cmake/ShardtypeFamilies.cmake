# The libraries that families of operations use, all optional: each is found by the file family.cmake in its family's
# folder, which the installed package includes too. It appends its imported targets to shardtype_family_targets, and to
# shardtype_family_choices the variables whose values the package keeps. After MPI, Kokkos and BLAS.
set(shardtype_family_targets "")
set(shardtype_family_choices "")

# shardtype_choice(<variable> <text>): a choice of the user; `auto` unless he, or the package, has made it.
macro(shardtype_choice variable text)
  if(NOT DEFINED ${variable} OR DEFINED CACHE{${variable}})
    set(${variable}
        auto
        CACHE STRING "${text}")
  endif()
endmacro()

if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/shardtypeConfig.cmake") # installed
  file(GLOB shardtype_families "${CMAKE_CURRENT_LIST_DIR}/families/*.cmake")
else()
  file(GLOB shardtype_families CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/shardtype/*/family.cmake")
endif()
foreach(shardtype_family IN LISTS shardtype_families)
  include("${shardtype_family}")
endforeach()
