# cpack: a Debian package of what is installed. It depends on the packages that own the MPI, the Kokkos, the Boost and the
# BLAS which this build found; what no package owns, such as a Kokkos of the user's own, is not in its list.
find_program(SHARDTYPE_DPKG_QUERY dpkg-query)
mark_as_advanced(SHARDTYPE_DPKG_QUERY)

# shardtype_owner(<out> <file>): the Debian package of a file, or of what it links to; "" where there is none.
function(shardtype_owner out file)
  set(owner "")
  while(owner STREQUAL "" AND SHARDTYPE_DPKG_QUERY AND EXISTS "${file}")
    execute_process(
      COMMAND "${SHARDTYPE_DPKG_QUERY}" -S "${file}"
      OUTPUT_VARIABLE text
      ERROR_QUIET)
    if(text MATCHES "^([a-z0-9][a-z0-9+.-]+)(:[a-z0-9]+)?: ")
      set(owner "${CMAKE_MATCH_1}")
    elseif(IS_SYMLINK "${file}")
      file(READ_SYMLINK "${file}" target)
      get_filename_component(folder "${file}" DIRECTORY)
      get_filename_component(file "${target}" ABSOLUTE BASE_DIR "${folder}")
    else()
      break()
    endif()
  endwhile()
  set(${out}
      "${owner}"
      PARENT_SCOPE)
endfunction()

list(GET MPI_CXX_INCLUDE_DIRS 0 shardtype_mpi_include)
set(shardtype_found_files "${shardtype_mpi_include}/mpi.h" "${MPIEXEC_EXECUTABLE}" "${Kokkos_DIR}/KokkosConfig.cmake")
foreach(folder IN LISTS Boost_INCLUDE_DIRS SHARDTYPE_BOOST_INCLUDE_DIR)
  list(APPEND shardtype_found_files "${folder}/boost/hana/type.hpp")
endforeach()
if(SHARDTYPE_HAVE_BLAS)
  list(APPEND shardtype_found_files ${BLAS_LIBRARIES})
endif()
set(shardtype_depends "")
foreach(file IN LISTS shardtype_found_files)
  shardtype_owner(owner "${file}")
  if(owner)
    list(APPEND shardtype_depends "${owner}")
  endif()
endforeach()
list(REMOVE_DUPLICATES shardtype_depends)
list(JOIN shardtype_depends ", " CPACK_DEBIAN_PACKAGE_DEPENDS)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "shardtype")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES OFF)
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_DEBIAN_PACKAGE_NAME libshardtype-dev)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
# Families that find these offer their operations; without them the library is there all the same.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libfftw3-dev, libpng-dev, librandom123-dev, nlohmann-json3-dev")
if(NOT SHARDTYPE_COMPILED) # headers alone
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
endif()
include(CPack)
