# The kinds of tests (see CONTRIBUTING.md). All of them are found by glob: adding a file adds a test.
include_guard(GLOBAL)
include(ShardtypeDrawn)
include(ShardtypeScaLAPACK)
find_package(Catch2 REQUIRED)

# Second compiler for what needs no MPI: reject tests and, under g++, static tests.
find_program(SHARDTYPE_GXX NAMES g++-12 g++ g++-13 g++-14 g++-15)
find_program(SHARDTYPE_CLANGXX NAMES clang++-19 clang++-20 clang++-21 clang++-18 clang++-17 clang++-16)
mark_as_advanced(SHARDTYPE_GXX SHARDTYPE_CLANGXX)
if(SHARDTYPE_CLANGXX AND "OPENMP" IN_LIST Kokkos_DEVICES)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/tests/openmp.cpp" CONTENT "#include <omp.h>\n")
  execute_process(COMMAND "${SHARDTYPE_CLANGXX}" -fopenmp -fsyntax-only "${PROJECT_BINARY_DIR}/tests/openmp.cpp"
                  RESULT_VARIABLE openmp ERROR_QUIET)
  if(NOT openmp EQUAL 0)
    message(STATUS "shardtype: tests by clang are left out (Kokkos has OpenMP, ${SHARDTYPE_CLANGXX} finds no omp.h)")
    set(SHARDTYPE_CLANGXX "")
  endif()
endif()

# Include directories and definitions of the library's two targets, in files, one per language: those of Kokkos 4 and 5
# depend on the language, which a test's command line has not. flags.CXX has them with '|' between them, for scripts;
# TARGET.CXX as arguments of a compiler, @TARGET.CXX.
set(shardtype_flags "${PROJECT_BINARY_DIR}/tests/flags.CXX")
# of the options those that Kokkos' headers ask for
set(shardtype_openmp
    "$<$<BOOL:$<FILTER:$<TARGET_PROPERTY:shardtype,INTERFACE_COMPILE_OPTIONS>,INCLUDE,fopenmp>>:-fopenmp>")
set(shardtype_flags_text "FULL_OPTIONS=${shardtype_openmp}\n")
foreach(library shardtype_types shardtype)
  set(includes "$<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${library},INTERFACE_COMPILE_DEFINITIONS>")
  set(options "")
  if(library STREQUAL "shardtype")
    set(options "${shardtype_openmp}\n")
    string(APPEND shardtype_flags_text "FULL_INCLUDES=$<JOIN:${includes},|>\n"
           "FULL_DEFINITIONS=$<JOIN:${definitions},|>\n")
  else()
    string(APPEND shardtype_flags_text "TYPES_INCLUDES=$<JOIN:${includes},|>\n")
  endif()
  file(
    GENERATE
    OUTPUT "${PROJECT_BINARY_DIR}/tests/${library}.$<COMPILE_LANGUAGE>"
    CONTENT
      "\"-I$<JOIN:${includes},\"\n\"-I>\"\n$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},\n-D>\n>${options}")
endforeach()
file(
  GENERATE
  OUTPUT "${PROJECT_BINARY_DIR}/tests/flags.$<COMPILE_LANGUAGE>"
  CONTENT "${shardtype_flags_text}")

# shardtype_static_test(<file>): the file is a proof; that it compiles is the test. The build compiles
# it with the build's compiler; where that is g++, ctest compiles it with clang too, in CI every second one.
# `// NEEDS: full`: proofs on functions, for which the types layer is not enough.
function(shardtype_static_test file)
  get_filename_component(name "${file}" NAME_WE)
  add_library(static_${name} OBJECT "${file}")
  shardtype_note("${file}" NEEDS needs)
  set(library shardtype_types)
  if(needs MATCHES "full")
    set(library shardtype)
  endif()
  target_link_libraries(static_${name} PRIVATE ${library})
  target_include_directories(static_${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
  shardtype_own(static_${name})
  string(LENGTH "${name}" letters)
  math(EXPR odd "${letters} % 2")
  if(odd OR SHARDTYPE_ALL_TESTS)
    shardtype_by_clang(${name} "${file}" ${library})
  endif()
endfunction()

# shardtype_by_clang(<name> <file> <library>): where the build's compiler is g++, clang reads the file too.
function(shardtype_by_clang name file library)
  if(SHARDTYPE_CLANGXX AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_test(
      NAME static.clang.${name}
      COMMAND "${SHARDTYPE_CLANGXX}" -std=c++20 -fsyntax-only "-I${PROJECT_SOURCE_DIR}/tests"
              "@${PROJECT_BINARY_DIR}/tests/${library}.CXX" "${file}")
    set_tests_properties(static.clang.${name} PROPERTIES LABELS static TIMEOUT 300)
  endif()
endfunction()

# shardtype_expect_error(<test> <file> <part>): the tests <test>.gcc... and <test>.clang... of ExpectError.cmake
# on a file's PART; %s in the name stands for the compiler. CI runs one of the two, by the length of the name: g++ on a
# quarter, because clang takes half of its time; scripts/test --all both.
function(shardtype_expect_error pattern file part)
  set(kinds gcc clang)
  if(SHARDTYPE_GXX AND SHARDTYPE_CLANGXX AND NOT SHARDTYPE_ALL_TESTS)
    string(LENGTH "${pattern}" letters)
    math(EXPR fourth "${letters} % 4")
    set(kinds clang)
    if(fourth EQUAL 0)
      set(kinds gcc)
    endif()
  endif()
  foreach(kind IN LISTS kinds)
    if(kind STREQUAL "gcc")
      set(compiler "${SHARDTYPE_GXX}")
    else()
      set(compiler "${SHARDTYPE_CLANGXX}")
    endif()
    string(REPLACE "%s" "${kind}" name "${pattern}")
    if(compiler)
      add_test(
        NAME ${name}
        COMMAND "${CMAKE_COMMAND}" "-DFILE=${file}" "-DPART=${part}" "-DCOMPILER=${compiler}"
                "-DKIND=${kind}" "-DPCH=${CMAKE_CURRENT_BINARY_DIR}/pch_${kind}"
                "-DFLAGS=${shardtype_flags}" -P "${PROJECT_SOURCE_DIR}/cmake/ExpectError.cmake")
      set_tests_properties(${name} PROPERTIES LABELS reject TIMEOUT 120 FIXTURES_REQUIRED
                                              reject_pch_${kind})
      if(NOT TEST reject.${kind})
        add_test(
          NAME reject.${kind}
          COMMAND "${CMAKE_COMMAND}" -DMAKE_PCH=library "-DCOMPILER=${compiler}" "-DKIND=${kind}"
                  "-DPCH=${CMAKE_CURRENT_BINARY_DIR}/pch_${kind}" "-DFLAGS=${shardtype_flags}" -P
                  "${PROJECT_SOURCE_DIR}/cmake/ExpectError.cmake")
        set_tests_properties(reject.${kind} PROPERTIES LABELS reject TIMEOUT 400
                                                       FIXTURES_SETUP reject_pch_${kind})
      endif()
    endif()
  endforeach()
endfunction()

# shardtype_reject_test(<file>): an illegal program and the words the compiler must and must not say
# (cmake/ExpectError.cmake), for g++ and for clang; CI takes a half of them. Its legal
# twin is compiled by shardtype_legal_twins.
function(shardtype_reject_test file)
  shardtype_lacks("${file}" lacks)
  if(lacks)
    return()
  endif()
  get_filename_component(name "${file}" NAME_WE)
  shardtype_drawn(${name} 2 drawn)
  if(drawn)
    shardtype_expect_error(reject.%s.${name} "${file}" illegal)
  endif()
  shardtype_note("${file}" NEEDS needs)
  set(layer types)
  if(needs MATCHES "full")
    set(layer full)
  endif()
  set_property(
    DIRECTORY
    APPEND
    PROPERTY shardtype_twins_${layer} "${file}")
endfunction()

# shardtype_legal_twins(): the legal twins of all reject tests so far, 24 in one compilation, each in a namespace.
function(shardtype_legal_twins)
  foreach(layer types full)
    get_property(
      files
      DIRECTORY
      PROPERTY shardtype_twins_${layer})
    set(batch 0)
    while(files)
      set(count 0)
      set(includes "")
      set(text "")
      while(files AND count LESS 24)
        list(POP_FRONT files file)
        math(EXPR count "${count} + 1")
        file(STRINGS "${file}" headers REGEX "^#include")
        list(APPEND includes ${headers})
        get_filename_component(name "${file}" NAME_WE)
        string(APPEND text "namespace twin_${name} {\n#include \"${file}\"\n}\n")
      endwhile()
      list(REMOVE_DUPLICATES includes)
      list(JOIN includes "\n" includes)
      set(unit "${CMAKE_CURRENT_BINARY_DIR}/twins/${layer}_${batch}.cpp")
      file(CONFIGURE OUTPUT "${unit}" CONTENT "// LEGAL\n// NEEDS: ${layer}\n// EXPECT: none\n${includes}\n${text}"
           @ONLY)
      shardtype_expect_error(twins.%s.${layer}_${batch} "${unit}" legal)
      math(EXPR batch "${batch} + 1")
    endwhile()
  endforeach()
endfunction()

# Where the build's compiler is g++, clang compiles a part of the tests: it takes half of the time, and what either
# compiler alone gets wrong is found. `by` is "" for g++ and "_by_clang" for clang, whose objects need a compiled
# part, a harness and a precompiled library of their own; so do those for the guarded device, "_guarded", which
# tests/guard defines and clang compiles too.
set(shardtype_clang_builds OFF)
if(SHARDTYPE_CLANGXX AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(shardtype_clang_builds ON)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  if("${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" MATCHES "-fsanitize") # its run-time library is the compiler's
    set(shardtype_clang_builds OFF)
  endif()
endif()

# shardtype_compile_by(<target> <by>): the compiler of a target's own files.
function(shardtype_compile_by target by)
  if(by AND shardtype_clang_builds)
    set_target_properties(
      ${target} PROPERTIES CXX_COMPILER_LAUNCHER
                           "${PROJECT_SOURCE_DIR}/scripts/by_clang;${SHARDTYPE_CLANGXX};${CMAKE_CXX_COMPILER_LAUNCHER}")
  endif()
endfunction()

# shardtype_use_harness(<target> <by>): main() and the reporting of all ranks (tests/harness), compiled once.
# Catch2 2.x is one header, compiled here.
function(shardtype_use_harness target by)
  if(by AND NOT TARGET shardtype_compiled${by})
    shardtype_add_compiled(shardtype_compiled${by})
    set_target_properties(shardtype_compiled${by} PROPERTIES EXCLUDE_FROM_ALL ON)
    target_link_libraries(shardtype_compiled${by} PRIVATE shardtype_warnings shardtype_native)
    shardtype_compile_by(shardtype_compiled${by} "${by}")
  endif()
  if(NOT TARGET shardtype_harness${by})
    set(main shardtype_harness_main${by})
    add_library(${main} OBJECT "${PROJECT_SOURCE_DIR}/tests/harness/main.cpp"
                               "${PROJECT_SOURCE_DIR}/tests/harness/yield.cpp")
    target_link_libraries(${main} PRIVATE shardtype_compiled${by} Catch2::Catch2 ${CMAKE_DL_LIBS})
    set_target_properties(${main} PROPERTIES CXX_EXTENSIONS OFF)
    target_compile_options(${main} PRIVATE -O0 -g0)
    shardtype_compile_by(${main} "${by}")
    add_library(shardtype_harness${by} INTERFACE)
    target_sources(shardtype_harness${by} INTERFACE $<TARGET_OBJECTS:${main}>)
    target_include_directories(shardtype_harness${by} INTERFACE "${PROJECT_SOURCE_DIR}/tests")
    target_link_libraries(shardtype_harness${by} INTERFACE shardtype_compiled${by} Catch2::Catch2 ${CMAKE_DL_LIBS})
  endif()
  target_link_libraries(${target} PRIVATE shardtype_harness${by})
endfunction()

# shardtype_unoptimized(<target> [<by>]): -O0, for what spends its time in the compiler and in MPI: half of the
# former is its optimizer. Parsing the library is the other half: it is precompiled once.
function(shardtype_unoptimized target)
  set(by "${ARGN}")
  set(precompiled shardtype_precompiled${by})
  if(NOT TARGET ${precompiled})
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/tests/precompiled.cpp" CONTENT "" @ONLY)
    add_library(${precompiled} OBJECT "${PROJECT_BINARY_DIR}/tests/precompiled.cpp")
    shardtype_use_harness(${precompiled} "${by}")
    shardtype_own(${precompiled})
    shardtype_compile_by(${precompiled} "${by}")
    target_compile_options(${precompiled} PRIVATE -O0)
    target_precompile_headers(
      ${precompiled} PRIVATE "${PROJECT_SOURCE_DIR}/tests/harness/catch.hpp"
      "${PROJECT_SOURCE_DIR}/include/shardtype/shardtype.hpp")
  endif()
  target_compile_options(${target} PRIVATE -O0)
  target_precompile_headers(${target} REUSE_FROM ${precompiled})
endfunction()

# shardtype_catch_executable(<target> <file> <by>): a Catch2 program with tests/harness/main.cpp, plus the
# sources its `// SOURCES:` line names (relative to the project).
function(shardtype_catch_executable target file by)
  shardtype_note("${file}" SOURCES extra)
  separate_arguments(extra)
  set(objects "")
  foreach(source IN LISTS extra) # compiled once for all that name it
    string(MAKE_C_IDENTIFIER "shardtype_${source}${by}" object)
    if(NOT TARGET ${object})
      add_library(${object} OBJECT "${PROJECT_SOURCE_DIR}/${source}")
      target_link_libraries(${object} PRIVATE shardtype_compiled${by})
      target_include_directories(${object} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
      shardtype_own(${object})
      shardtype_compile_by(${object} "${by}")
    endif()
    list(APPEND objects $<TARGET_OBJECTS:${object}>)
  endforeach()
  add_executable(${target} "${file}" ${objects})
  shardtype_use_harness(${target} "${by}")
  shardtype_needed("${file}" needed)
  target_link_libraries(${target} PRIVATE ${needed})
  shardtype_own(${target})
  shardtype_compile_by(${target} "${by}")
endfunction()

# shardtype_mpi_test(<name> [FILE <file>] [RANKS <n>...] [TIMEOUT <s>] [PREFIX mpi|unit|guard]): builds
# tests/mpi/<name>.cpp and registers mpi.<name>.np<n> for each rank count. PREFIX guard: on the guarded device, on 1 and
# 2 ranks if the file allows it. The file's `// RANKS:` and
# `// TIMEOUT:` lines override the arguments; `// OPTIMIZE: 1` is for what computes much; `// WHEN: all` leaves it out
# but for scripts/test --all, `// WHEN: one in n` on all days but one in n; of the others CI takes two in three, of those on the guarded device a half. Of tests/mpi seven in eight are built by clang, by the length of the name, and with --all
# each of these by g++ too; `// COMPILERS: both` always, `// COMPILERS: g++` never; `// CLANG_STEPS: n`
# is how many steps its constants may take there. unit, programs and examples are built by g++.
function(shardtype_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "TIMEOUT;PREFIX;FILE" "RANKS")
  if(NOT test_PREFIX)
    set(test_PREFIX mpi)
  endif()
  if(NOT test_FILE)
    set(test_FILE "${PROJECT_SOURCE_DIR}/tests/mpi/${name}.cpp")
  endif()
  if(NOT test_RANKS)
    # of 4 and 8 ranks CI runs one, and of 3 and 6 one or none, by the length of the name; scripts/test --all runs all
    set(test_RANKS 1 2 3 4 6 8)
    string(LENGTH "${name}" letters)
    math(EXPR fourth "${letters} % 4")
    if(NOT SHARDTYPE_ALL_TESTS AND fourth LESS 2)
      list(REMOVE_ITEM test_RANKS 4)
    elseif(NOT SHARDTYPE_ALL_TESTS)
      list(REMOVE_ITEM test_RANKS 8)
    endif()
    if(NOT SHARDTYPE_ALL_TESTS AND NOT fourth EQUAL 0)
      list(REMOVE_ITEM test_RANKS 3)
    endif()
    if(NOT SHARDTYPE_ALL_TESTS AND NOT fourth EQUAL 3)
      list(REMOVE_ITEM test_RANKS 6)
    endif()
  endif()
  shardtype_lacks("${test_FILE}" lacks)
  shardtype_note("${test_FILE}" WHEN when)
  if(lacks OR (when STREQUAL "all" AND NOT SHARDTYPE_ALL_TESTS))
    return()
  endif()
  if(when MATCHES "^one in ([0-9]+)$")
    shardtype_drawn(${name} ${CMAKE_MATCH_1} drawn)
  elseif(test_PREFIX STREQUAL "guard")
    shardtype_drawn(${name} 2 drawn)
  else()
    shardtype_left_out(${test_PREFIX}.${name} 3 left_out)
    set(drawn ON)
    if(left_out)
      set(drawn OFF)
    endif()
  endif()
  if(NOT drawn)
    return()
  endif()
  shardtype_note("${test_FILE}" RANKS ranks ${test_RANKS})
  separate_arguments(ranks)
  shardtype_note("${test_FILE}" TIMEOUT timeout ${test_TIMEOUT})
  shardtype_note("${test_FILE}" OPTIMIZE level 0)
  shardtype_note("${test_FILE}" CLANG_STEPS steps)
  set(compilers "g++")
  string(LENGTH "${name}" letters)
  math(EXPR eighth "${letters} % 8")
  shardtype_note("${test_FILE}" COMPILERS asked one)
  if(test_PREFIX STREQUAL "guard")
    set(compilers "guarded")
    set(few ${ranks})
    list(FILTER few INCLUDE REGEX "^[12]$")
    if(few)
      set(ranks ${few})
    endif()
    set(timeout 600) # each kernel runs twice
  elseif(shardtype_clang_builds AND asked STREQUAL "both")
    set(compilers "clang" "g++")
  elseif(shardtype_clang_builds AND test_PREFIX STREQUAL "mpi" AND NOT eighth EQUAL 0 AND NOT asked STREQUAL "g++")
    set(compilers "clang")
    if(SHARDTYPE_ALL_TESTS)
      list(APPEND compilers "g++")
    endif()
  endif()
  list(LENGTH compilers count)
  foreach(compiler IN LISTS compilers)
    set(by "")
    set(shown "")
    if(compiler STREQUAL "clang")
      set(by "_by_clang")
    elseif(compiler STREQUAL "guarded")
      set(by "_guarded")
    elseif(count GREATER 1)
      set(shown ".gcc")
    endif()
    string(REPLACE "." "_" target "${test_PREFIX}_${name}${shown}")
    shardtype_catch_executable(${target} "${test_FILE}" "${by}")
    if(level EQUAL 0)
      shardtype_unoptimized(${target} ${by})
    else()
      target_compile_options(${target} PRIVATE -O${level})
    endif()
    if(by STREQUAL "_by_clang" AND steps) # g++ takes 2^25
      target_compile_options(${target} PRIVATE -fconstexpr-steps=${steps})
    endif()
    foreach(n IN LISTS ranks)
      shardtype_add_run(
        NAME ${test_PREFIX}.${name}${shown}.np${n} TARGET ${target} RANKS ${n}
        TIMEOUT "${timeout}" LABELS ${test_PREFIX})
    endforeach()
  endforeach()
endfunction()
