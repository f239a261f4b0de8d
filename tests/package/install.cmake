# Installs the library for the consumers of the other tests, into WORK/root/usr: from its Debian package, where cpack and
# dpkg-deb are there. See CMakeLists.txt.
cmake_minimum_required(VERSION 3.23)

function(run what out)
  execute_process(
    COMMAND ${ARGN}
    RESULT_VARIABLE status
    OUTPUT_VARIABLE text
    ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message(NOTICE "${text}${errors}")
    message(FATAL_ERROR "${what} failed (${status})")
  endif()
  set(${out}
      "${text}"
      PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("installing" ignored "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
file(GLOB_RECURSE installed RELATIVE "${WORK}/prefix" "${WORK}/prefix/*")

# The pages came along, and what they link to.
set(documents "${WORK}/prefix/share/doc/shardtype")
file(GLOB_RECURSE pages "${documents}/*.md")
list(LENGTH pages count)
if(count LESS 20)
  message(FATAL_ERROR "only ${count} pages are installed")
endif()
foreach(page IN LISTS pages)
  get_filename_component(folder "${page}" DIRECTORY)
  file(READ "${page}" text)
  string(REGEX REPLACE "[][;]" "." text "${text}") # which lists of CMake take for their own
  string(REGEX MATCHALL "\\.\\([A-Za-z0-9_./]+\\.(md|svg|cpp)[#)]" links "${text}")
  foreach(link IN LISTS links)
    string(REGEX REPLACE "^\\.\\(|.$" "" link "${link}")
    if(NOT EXISTS "${folder}/${link}")
      message(FATAL_ERROR "${page} links to ${link}, which is not installed")
    endif()
  endforeach()
endforeach()

if(NOT DPKG_DEB OR NOT CPACK)
  file(MAKE_DIRECTORY "${WORK}/root")
  file(RENAME "${WORK}/prefix" "${WORK}/root/usr")
  return()
endif()

run("packing" ignored "${CPACK}" -G DEB --config "${BUILD}/CPackConfig.cmake" -B "${WORK}/deb")
file(GLOB package "${WORK}/deb/libshardtype-dev_${VERSION}_*.deb")
run("unpacking" ignored "${DPKG_DEB}" -x "${package}" "${WORK}/root")
file(GLOB_RECURSE packed RELATIVE "${WORK}/root" "${WORK}/root/*")
list(TRANSFORM installed PREPEND "usr/")
if(NOT packed STREQUAL installed)
  set(less ${installed})
  list(REMOVE_ITEM less ${packed})
  list(REMOVE_ITEM packed ${installed})
  message(FATAL_ERROR "the package lacks ${less} and has ${packed} that cmake --install has not")
endif()

# It depends on packages of this machine, of which the build took MPI and Kokkos.
run("reading its dependencies" depends "${DPKG_DEB}" -f "${package}" Depends)
string(REGEX MATCHALL "[a-z0-9][a-z0-9+.-]+" depends "${depends}")
foreach(name IN LISTS depends)
  run("looking for ${name}, on which the package depends," ignored dpkg-query -W "${name}")
endforeach()
foreach(file "${MPIEXEC}" "${KOKKOS}/KokkosConfig.cmake")
  execute_process(
    COMMAND dpkg-query -S "${file}"
    OUTPUT_VARIABLE owner
    ERROR_QUIET)
  string(REGEX REPLACE ":.*" "" owner "${owner}")
  string(STRIP "${owner}" owner)
  if(owner AND NOT owner IN_LIST depends)
    message(FATAL_ERROR "the package depends on ${depends}, not on ${owner}, which has ${file}")
  endif()
endforeach()
