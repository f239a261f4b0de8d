# MPI as MPI::MPI_CXX, and the launcher as MPIEXEC_EXECUTABLE. Where several MPIs are installed side
# by side, Debian suffixes their tools: the MPICH ones are preferred, compiler and launcher together.
# Also used by the installed package.
if(NOT TARGET MPI::MPI_CXX)
  if(NOT MPI_CXX_COMPILER AND NOT DEFINED ENV{MPI_CXX_COMPILER})
    find_program(SHARDTYPE_MPICXX_MPICH mpicxx.mpich)
    mark_as_advanced(SHARDTYPE_MPICXX_MPICH)
    if(SHARDTYPE_MPICXX_MPICH)
      set(MPI_CXX_COMPILER
          "${SHARDTYPE_MPICXX_MPICH}"
          CACHE FILEPATH "MPI compiler for CXX" FORCE)
    endif()
  endif()
  if(NOT MPIEXEC_EXECUTABLE AND "${MPI_CXX_COMPILER}" MATCHES "^(.*)mpi(cxx|c\\+\\+|CC)\\.mpich$")
    find_program(
      SHARDTYPE_MPIEXEC_MPICH mpiexec.mpich
      HINTS "${CMAKE_MATCH_1}"
      NO_CACHE)
    if(SHARDTYPE_MPIEXEC_MPICH)
      set(MPIEXEC_EXECUTABLE
          "${SHARDTYPE_MPIEXEC_MPICH}"
          CACHE FILEPATH "MPI launcher" FORCE)
    endif()
  endif()
  set(MPI_CXX_SKIP_MPICXX ON) # the C API only: no deprecated C++ bindings
  find_package(MPI REQUIRED COMPONENTS CXX)
endif()
