# Which MPI and Kokkos the library takes and what its package refuses, with an MPI and a Kokkos made from those of this
# build: their headers say another name, or another version. Only configures. See CMakeLists.txt.
cmake_minimum_required(VERSION 3.23)

string(REPLACE "|||" ";" variables "${VARIABLES}")
string(REPLACE "|" "\\;" variables "${variables}")
list(FILTER variables EXCLUDE REGEX "^-D(MPI|Kokkos_DIR)")
string(REPLACE "|" ";" includes "${MPI_INCLUDES}")
string(REPLACE "|" ";" libraries "${MPI_LIBRARIES}")
file(REMOVE_RECURSE "${WORK}")

# An MPI in WORK/mpi/bin that calls itself Open MPI 99.
list(TRANSFORM includes PREPEND "-I")
list(JOIN includes " " include_flags)
list(JOIN libraries " " libraries)
file(WRITE "${WORK}/mpi/include/mpi.h" "#include_next <mpi.h>
#undef MPICH_VERSION
#undef OMPI_MAJOR_VERSION
#undef OMPI_MINOR_VERSION
#undef OMPI_RELEASE_VERSION
#define OPEN_MPI 1
#define OMPI_MAJOR_VERSION 99
#define OMPI_MINOR_VERSION 0
#define OMPI_RELEASE_VERSION 1
")
set(flags "-I${WORK}/mpi/include ${include_flags}")
file(WRITE "${WORK}/mpi/bin/mpicxx" "#!/bin/sh
case \"$1\" in
-show) echo \"${COMPILER} ${flags} ${libraries}\"; exit 0 ;;
-show* | --show* | -compile* | -link*) exit 1 ;;
esac
exec \"${COMPILER}\" ${flags} \"$@\" ${libraries}
")
file(WRITE "${WORK}/mpi/bin/mpiexec" "#!/bin/sh\nexec \"${MPIEXEC}\" \"$@\"\n")
file(CHMOD "${WORK}/mpi/bin/mpicxx" "${WORK}/mpi/bin/mpiexec" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)

# A Kokkos 5.99 whose flags depend on the language, as those of Kokkos 4 and 5 do.
file(WRITE "${WORK}/kokkos/KokkosConfigVersion.cmake" "set(PACKAGE_VERSION 5.99)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
file(WRITE "${WORK}/kokkos/KokkosConfig.cmake" "set(Kokkos_DEVICES SERIAL)
add_library(Kokkos::kokkos INTERFACE IMPORTED)
set_target_properties(Kokkos::kokkos PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS \"\\$<\\$<COMPILE_LANGUAGE:CXX>:KOKKOS_DEPENDENCE>\"
  INTERFACE_INCLUDE_DIRECTORIES \"\\$<\\$<COMPILE_LANGUAGE:CXX>:${WORK}/kokkos>\"
  INTERFACE_COMPILE_OPTIONS \"\\$<\\$<COMPILE_LANGUAGE:CXX>:-g>\")
")

# configure(<name> <words> <arguments>...): the words must be in what CMake says, with or without an error.
function(configure name words)
  execute_process(
    COMMAND ${ARGN} -B "${WORK}/${name}" -G "${GENERATOR}" ${variables}
    RESULT_VARIABLE status
    OUTPUT_VARIABLE text
    ERROR_VARIABLE text)
  string(REGEX REPLACE "[ \n]+" " " line "${text}")
  if(NOT line MATCHES "${words}")
    message(NOTICE "${text}")
    message(FATAL_ERROR "${name}: CMake does not say \"${words}\"")
  endif()
endfunction()

# A project that asks only for MPI.
file(WRITE "${WORK}/mpi_of/CMakeLists.txt" "cmake_minimum_required(VERSION 3.23)
project(mpi_of LANGUAGES CXX)
include(\"${SOURCE}/cmake/ShardtypeMPI.cmake\")
message(STATUS \"found \${SHARDTYPE_MPI} with \${MPIEXEC_EXECUTABLE}\")
")
set(project "${CMAKE_COMMAND}" -S "${WORK}/mpi_of")
set(other "found Open MPI 99.0.1 with ${WORK}/mpi/bin/mpiexec")
set(path "${CMAKE_COMMAND}" -E env "PATH=${WORK}/mpi/bin:$ENV{PATH}")
configure(by_path "${other}" ${path} ${project})
configure(by_home "${other}" "${CMAKE_COMMAND}" -E env "MPI_HOME=${WORK}/mpi" ${project})
configure(by_no_home "MPI_HOME or MPI_ROOT is ${WORK}/none, which has no bin/mpicxx" ${project} "-DMPI_HOME=${WORK}/none")
set(all_variables "${variables}")
list(FILTER variables EXCLUDE REGEX "^-DCMAKE_CXX_COMPILER=")
configure(by_compiler "${other}" ${project} "-DCMAKE_CXX_COMPILER=${WORK}/mpi/bin/mpicxx")
set(variables "${all_variables}")
configure(by_nothing "found ${MPI}.* with ${MPIEXEC}" ${project} "-DSHARDTYPE_BUILT_MPI_COMPILER=${MPI_COMPILER}")

# The package of this build, for projects with another MPI or another Kokkos.
set(project "${CMAKE_COMMAND}" -S "${SOURCE}/tests/package/find_package" "-Dshardtype_ROOT=${ROOT}")
if(COMPILED)
  configure(other_mpi "shardtype was built with ${MPI} .*, and this project has Open MPI 99.0.1 .*fresh folder" ${path}
            ${project})
  configure(other_kokkos "shardtype was built with Kokkos .*, and this project has Kokkos 5.99 SERIAL .*fresh folder"
            ${project} "-DKokkos_DIR=${WORK}/kokkos")
endif()

# Tests and all with that Kokkos.
configure(kokkos_of_languages "Generating done.*Build files have been written" "${CMAKE_COMMAND}" -S "${SOURCE}"
          "-DKokkos_DIR=${WORK}/kokkos" -DSHARDTYPE_BUILD_EXAMPLES=OFF -DSHARDTYPE_BUILD_BENCH=OFF)
file(STRINGS "${WORK}/kokkos_of_languages/tests/shardtype.CXX" flags REGEX "DKOKKOS_DEPENDENCE|${WORK}/kokkos")
list(LENGTH flags count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "kokkos_of_languages: the flags of clang lack those of Kokkos: ${flags}")
endif()
