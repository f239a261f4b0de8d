# MPI as MPI::MPI_CXX, and the launcher as MPIEXEC_EXECUTABLE. Also used by the installed package.
#
# An MPI that the user names is taken, compiler and launcher together: by MPI_CXX_COMPILER, MPIEXEC_EXECUTABLE, MPI_HOME
# or MPI_ROOT (as variables or in the environment), by a compiler that has MPI itself (CXX=mpicxx), or by PATH. Debian's
# plain names on PATH name none: they belong to whichever MPI was installed last. Then it is the one that the package was
# built with (SHARDTYPE_BUILT_MPI_COMPILER), else Debian's MPICH, whose tools have a suffix, else what CMake finds.

# The MPI compiler to use, or "" where CMake is to choose.
function(shardtype_choose_mpi out)
  set(chosen "")
  set(folders "")
  unset(shardtype_chosen_in_folder)
  unset(shardtype_on_path)
  unset(shardtype_debian_mpich)
  foreach(variable MPI_HOME MPI_ROOT)
    if(${variable})
      list(APPEND folders "${${variable}}")
    elseif(NOT "$ENV{${variable}}" STREQUAL "")
      list(APPEND folders "$ENV{${variable}}")
    endif()
  endforeach()
  set(plain mpicxx mpic++ mpiCC)
  if(folders)
    list(GET folders 0 folder)
    find_program(
      shardtype_chosen_in_folder
      NAMES ${plain}
      NAMES_PER_DIR
      PATHS "${folder}"
      PATH_SUFFIXES bin sbin
      NO_DEFAULT_PATH NO_CACHE)
    if(NOT shardtype_chosen_in_folder)
      message(FATAL_ERROR "shardtype: MPI_HOME or MPI_ROOT is ${folder}, which has no bin/mpicxx")
    endif()
    set(chosen "${shardtype_chosen_in_folder}")
  elseif(NOT MPIEXEC_EXECUTABLE AND NOT DEFINED ENV{I_MPI_ROOT} AND NOT MPI_EXECUTABLE_SUFFIX)
    include(CheckCXXSourceCompiles)
    set(CMAKE_REQUIRED_QUIET ON)
    set(CMAKE_REQUIRED_DEFINITIONS -DMPICH_SKIP_MPICXX -DOMPI_SKIP_MPICXX)
    check_cxx_source_compiles("#include <mpi.h>\nint main() { return MPI_Finalize(); }" SHARDTYPE_COMPILER_HAS_MPI)
    find_program(
      shardtype_on_path
      NAMES ${plain}
      NAMES_PER_DIR NO_CACHE)
    set(of_debian OFF)
    if(shardtype_on_path AND IS_SYMLINK "${shardtype_on_path}")
      file(READ_SYMLINK "${shardtype_on_path}" target)
      if(target MATCHES "^/etc/alternatives/")
        set(of_debian ON)
      endif()
    endif()
    if(SHARDTYPE_COMPILER_HAS_MPI)
      set(chosen "${CMAKE_CXX_COMPILER}")
    elseif(shardtype_on_path AND NOT of_debian)
      set(chosen "${shardtype_on_path}")
    elseif(EXISTS "${SHARDTYPE_BUILT_MPI_COMPILER}")
      set(chosen "${SHARDTYPE_BUILT_MPI_COMPILER}")
    else()
      find_program(shardtype_debian_mpich mpicxx.mpich NO_CACHE)
      if(shardtype_debian_mpich)
        set(chosen "${shardtype_debian_mpich}")
      endif()
    endif()
  endif()
  set(${out}
      "${chosen}"
      PARENT_SCOPE)
endfunction()

# The launcher in the MPI compiler's folder, with its suffix.
function(shardtype_mpi_launcher out)
  get_filename_component(folder "${MPI_CXX_COMPILER}" DIRECTORY)
  get_filename_component(name "${MPI_CXX_COMPILER}" NAME)
  unset(shardtype_found)
  if(folder AND name MATCHES "^mpi[A-Za-z+]+(\\.[A-Za-z0-9]+)?$")
    find_program(
      shardtype_found
      NAMES "mpiexec${CMAKE_MATCH_1}" "mpirun${CMAKE_MATCH_1}"
      PATHS "${folder}"
      NO_DEFAULT_PATH NO_CACHE)
  endif()
  if(NOT shardtype_found)
    set(shardtype_found "")
  endif()
  set(${out}
      "${shardtype_found}"
      PARENT_SCOPE)
endfunction()

# The MPI of the target MPI::MPI_CXX as "MPICH 4.0.2" or "Open MPI 4.1.4"; "" where its header does not say.
function(shardtype_mpi_name out)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/shardtype_mpi.cpp")
  file(
    WRITE "${source}"
    "#include <mpi.h>
#if defined(OPEN_MPI)
shardtype_mpi = \"Open MPI\" OMPI_MAJOR_VERSION.OMPI_MINOR_VERSION.OMPI_RELEASE_VERSION
#elif defined(MPICH_VERSION)
shardtype_mpi = \"MPICH\" MPICH_VERSION
#endif
")
  set(includes "")
  get_target_property(folders MPI::MPI_CXX INTERFACE_INCLUDE_DIRECTORIES)
  foreach(folder IN LISTS folders)
    if(IS_DIRECTORY "${folder}")
      list(APPEND includes "-I${folder}")
    endif()
  endforeach()
  separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS}")
  execute_process(
    COMMAND "${CMAKE_CXX_COMPILER}" ${flags} ${includes} -E -P "${source}"
    OUTPUT_VARIABLE text
    ERROR_QUIET)
  set(name "")
  if(text MATCHES "shardtype_mpi = ([^\n]*)")
    string(REGEX REPLACE " *[.] *" "." name "${CMAKE_MATCH_1}")
    string(REPLACE "\"" "" name "${name}")
  endif()
  set(${out}
      "${name}"
      PARENT_SCOPE)
endfunction()

if(NOT TARGET MPI::MPI_CXX)
  if(NOT MPI_CXX_COMPILER)
    if(NOT "$ENV{MPI_CXX_COMPILER}" STREQUAL "")
      set(shardtype_mpi_choice "$ENV{MPI_CXX_COMPILER}")
    else()
      shardtype_choose_mpi(shardtype_mpi_choice)
    endif()
    if(shardtype_mpi_choice)
      set(MPI_CXX_COMPILER
          "${shardtype_mpi_choice}"
          CACHE FILEPATH "MPI compiler for CXX" FORCE)
    endif()
  endif()
  if(MPI_CXX_COMPILER AND NOT IS_ABSOLUTE "${MPI_CXX_COMPILER}") # a name on PATH
    unset(shardtype_mpi_compiler)
    find_program(shardtype_mpi_compiler "${MPI_CXX_COMPILER}" NO_CACHE)
    if(shardtype_mpi_compiler)
      set(MPI_CXX_COMPILER
          "${shardtype_mpi_compiler}"
          CACHE FILEPATH "MPI compiler for CXX" FORCE)
    endif()
  endif()
  if(NOT MPIEXEC_EXECUTABLE)
    shardtype_mpi_launcher(shardtype_launcher)
    if(shardtype_launcher)
      set(MPIEXEC_EXECUTABLE
          "${shardtype_launcher}"
          CACHE FILEPATH "MPI launcher" FORCE)
    endif()
  endif()
  set(MPI_CXX_SKIP_MPICXX ON) # the C API only: no deprecated C++ bindings
  find_package(MPI REQUIRED COMPONENTS CXX)
endif()
shardtype_mpi_name(SHARDTYPE_MPI)
