# Flags of our own tests, examples and benchmarks; none of them reach users.
add_library(shardtype_warnings INTERFACE)
target_compile_options(
  shardtype_warnings
  INTERFACE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wshadow;-Wsign-conversion;-Werror>"
)

add_library(shardtype_native INTERFACE)
if(SHARDTYPE_NATIVE)
  target_compile_options(shardtype_native INTERFACE -march=native)
endif()

# shardtype_own(<target>): our flags on one of our own targets.
function(shardtype_own target)
  target_link_libraries(${target} PRIVATE shardtype_warnings shardtype_native)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
endfunction()

# shardtype_note(<file> <KEY> <out> [default]): the rest of the file's first line `// KEY: ...`.
function(shardtype_note file key out)
  file(STRINGS "${file}" lines REGEX "^// ${key}:" LIMIT_COUNT 1)
  set(value "${ARGN}")
  if(lines MATCHES "^// ${key}:[ \t]*(.*)$")
    string(STRIP "${CMAKE_MATCH_1}" value)
  endif()
  set_property(
    DIRECTORY
    APPEND
    PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  set(${out}
      "${value}"
      PARENT_SCOPE)
endfunction()

# shardtype_needed(<file> <out>): the targets of the optional libraries that the file's `// NEEDS:` line names.
function(shardtype_needed file out)
  shardtype_note("${file}" NEEDS needs)
  string(REGEX MATCHALL "[A-Za-z0-9]+" words "${needs}")
  list(REMOVE_ITEM words full)
  set(needed "")
  foreach(word IN LISTS words)
    if(word MATCHES "^(CLI11|Random123)$")
      list(APPEND needed ${word}::${word})
    else()
      list(APPEND needed Shardtype::${word})
    endif()
  endforeach()
  set(${out}
      "${needed}"
      PARENT_SCOPE)
endfunction()

# shardtype_lacks(<file> <out>): whether one of them was not found; what the file makes is then left out.
function(shardtype_lacks file out)
  shardtype_needed("${file}" needed)
  set(${out}
      OFF
      PARENT_SCOPE)
  foreach(target IN LISTS needed)
    if(NOT TARGET ${target})
      string(REGEX REPLACE ".*::" "" library "${target}")
      message(STATUS "shardtype: ${file} is left out (${library} not found)")
      set(${out}
          ON
          PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# What a run under mpiexec needs: one thread per rank.
set(SHARDTYPE_RUN_ENVIRONMENT "OPENBLAS_NUM_THREADS=1;OMP_NUM_THREADS=1;OMP_PROC_BIND=false")

set(SHARDTYPE_TIMEOUT_FACTOR
    1
    CACHE STRING "What the time limits of tests are multiplied by, for sanitizers")

# shardtype_add_run(NAME <ctest name> TARGET <executable> RANKS <n> [TIMEOUT <s>] [ARGS ...]
# [LABELS ...] [WORKING_DIRECTORY dir]): one ctest that runs an executable under mpiexec.
function(shardtype_add_run)
  cmake_parse_arguments(PARSE_ARGV 0 run "" "NAME;TARGET;RANKS;TIMEOUT;WORKING_DIRECTORY"
                        "BEFORE;ARGS;LABELS")
  if(NOT run_TIMEOUT)
    set(run_TIMEOUT 120)
  endif()
  math(EXPR run_TIMEOUT "${run_TIMEOUT} * ${SHARDTYPE_TIMEOUT_FACTOR}")
  if(NOT run_WORKING_DIRECTORY)
    set(run_WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  add_test(
    NAME "${run_NAME}"
    COMMAND ${run_BEFORE} "${MPIEXEC_EXECUTABLE}" "${MPIEXEC_NUMPROC_FLAG}" "${run_RANKS}"
            "$<TARGET_FILE:${run_TARGET}>" ${run_ARGS}
    WORKING_DIRECTORY "${run_WORKING_DIRECTORY}")
  set(processors ${run_RANKS})
  if(processors GREATER 2)
    set(processors 2)
  endif()
  set_tests_properties(
    "${run_NAME}"
    PROPERTIES PROCESSORS "${processors}"
               TIMEOUT "${run_TIMEOUT}"
               ENVIRONMENT "${SHARDTYPE_RUN_ENVIRONMENT}"
               LABELS "${run_LABELS}")
endfunction()
