# Kokkos 3.4 to 5.x as Kokkos::kokkos. Also used by the installed package, where the one that it was built with comes
# before the system's (SHARDTYPE_BUILT_KOKKOS_DIR).
#
# Debian 12 ships Kokkos only inside Trilinos; its exported target names <libdir>/include, which does
# not exist, and generation would fail. Such a target is mended to the folder that holds the headers.
if(NOT TARGET Kokkos::kokkos)
  # Trilinos' export turns this off with a warning otherwise.
  if(NOT DEFINED CMAKE_CXX_EXTENSIONS)
    set(CMAKE_CXX_EXTENSIONS OFF)
  endif()
  find_package(Kokkos REQUIRED CONFIG QUIET HINTS "${SHARDTYPE_BUILT_KOKKOS_DIR}")
endif()
if(Kokkos_VERSION AND Kokkos_VERSION VERSION_LESS 3.4)
  message(FATAL_ERROR "shardtype: Kokkos ${Kokkos_VERSION} is too old (3.4 to 5.x work)")
endif()

get_target_property(_shardtype_kokkos_alias Kokkos::kokkos ALIASED_TARGET)
get_target_property(_shardtype_kokkos_imported Kokkos::kokkos IMPORTED)
if(_shardtype_kokkos_imported AND NOT _shardtype_kokkos_alias)
  get_target_property(_shardtype_kokkos_dirs Kokkos::kokkos INTERFACE_INCLUDE_DIRECTORIES)
  set(_shardtype_kokkos_good "")
  set(_shardtype_kokkos_bad "")
  foreach(_dir IN LISTS _shardtype_kokkos_dirs)
    if(_dir MATCHES "\\$<" OR IS_DIRECTORY "${_dir}")
      list(APPEND _shardtype_kokkos_good "${_dir}")
    elseif(_dir)
      list(APPEND _shardtype_kokkos_bad "${_dir}")
    endif()
  endforeach()
  if(_shardtype_kokkos_bad)
    find_path(
      SHARDTYPE_KOKKOS_INCLUDE_DIR Kokkos_Core.hpp
      HINTS ${Kokkos_INCLUDE_DIRS}
      PATH_SUFFIXES trilinos kokkos)
    mark_as_advanced(SHARDTYPE_KOKKOS_INCLUDE_DIR)
    if(NOT SHARDTYPE_KOKKOS_INCLUDE_DIR)
      message(FATAL_ERROR "shardtype: Kokkos was found in ${Kokkos_DIR}, but not its Kokkos_Core.hpp; "
                          "set SHARDTYPE_KOKKOS_INCLUDE_DIR")
    endif()
    get_filename_component(SHARDTYPE_KOKKOS_INCLUDE_REAL "${SHARDTYPE_KOKKOS_INCLUDE_DIR}" REALPATH)
    list(APPEND _shardtype_kokkos_good "${SHARDTYPE_KOKKOS_INCLUDE_REAL}")
    set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
                                                    "${_shardtype_kokkos_good}")
  endif()
endif()
