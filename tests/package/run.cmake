# Configures, builds and runs one consumer of the library in a fresh folder. See CMakeLists.txt.
cmake_minimum_required(VERSION 3.23)

function(run what)
  execute_process(
    COMMAND ${ARGN}
    RESULT_VARIABLE status
    OUTPUT_VARIABLE text
    ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    message(NOTICE "${text}")
    message(FATAL_ERROR "${MODE}: ${what} failed (${status})")
  endif()
endfunction()

string(REPLACE "|||" ";" variables "${VARIABLES}")
string(REPLACE "|" "\\;" variables "${variables}")
string(REPLACE "|" ";" launch "${RUN}")

file(REMOVE_RECURSE "${WORK}")
set(where "-DSHARDTYPE_SOURCE=${SOURCE}")
if(MODE STREQUAL "find_package")
  run("installing" "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
  set(where "-Dshardtype_ROOT=${WORK}/prefix" "-DWANTS_COMPILED=${COMPILED}")
  # Headers are for all architectures, the compiled part for one: here the finder has other pointers.
  file(GLOB_RECURSE version_file "${WORK}/prefix/shardtypeConfigVersion.cmake")
  set(CMAKE_SIZEOF_VOID_P 2)
  include("${version_file}")
  if(COMPILED AND NOT PACKAGE_VERSION_UNSUITABLE)
    message(FATAL_ERROR "${MODE}: the compiled part is offered to other architectures")
  endif()
  unset(CMAKE_SIZEOF_VOID_P)
endif()
run("configuring the consumer" "${CMAKE_COMMAND}" -S "${SOURCE}/tests/package/${MODE}" -B
    "${WORK}/build" -G "${GENERATOR}" ${variables} "${where}")
run("building the consumer" "${CMAKE_COMMAND}" --build "${WORK}/build")
run("running the consumer" ${launch} "${WORK}/build/consumer")
if(MODE STREQUAL "find_package" AND COMPILED)
  run("running the consumer of the compiled part" ${launch} "${WORK}/build/consumer_compiled")
  file(GLOB_RECURSE precompiled "${WORK}/build/cmake_pch.hxx.*ch")
  if(NOT precompiled)
    message(FATAL_ERROR "${MODE}: shardtype::precompiled precompiles nothing")
  endif()
endif()
run("running the consumer of the types" "${WORK}/build/consumer_types")
