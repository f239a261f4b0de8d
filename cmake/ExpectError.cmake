# Negative test: an illegal program, its legal twin, and what the compiler must say.
#
#   cmake -DFILE=tests/reject/x.cpp -DCOMPILER=g++ [-DKIND=gcc|clang] -DFLAGS=file [-DSHOW=ON]
#         -P cmake/ExpectError.cmake
#
# The file of flags has the lines TYPES_INCLUDES=a|b, FULL_INCLUDES=a|b, FULL_DEFINITIONS=A|B and FULL_OPTIONS=-a|-b.
# The file is compiled (-fsyntax-only) with -DLEGAL, which must succeed, and without, which must fail.
# Its comment lines say the rest:
#   // EXPECT: regex         every one must match the diagnostic (source echo left out)
#   // EXPECT-gcc: regex     the same for one compiler; EXPECT-clang likewise
#   // FORBID: regex         must not match; `boost::hana` and `Spec{` are always forbidden
#   // MAX-LINES: n          instead of 10 lines without source echo (and 2 n instead of 20 with it)
#   // MAX-LINES: n, m with echo
#   // NEEDS: full           include directories of the whole library (MPI, Kokkos), not only of types
# With -DPART=illegal the twin is left out; tests compile many twins at once, each in a namespace of its own, as
# a file that is compiled with -DPART=legal only.
# With -DPCH=dir, the library is taken from a precompiled header there; -DMAKE_PCH=library makes it (and
# that of types alone), once per compiler.
# Regular expressions are CMake's. -DSHOW=ON prints the diagnostic (for writing EXPECT lines).
cmake_minimum_required(VERSION 3.23)

if(MAKE_PCH)
  set(FILE "${PCH}/${MAKE_PCH}.hpp")
  if(MAKE_PCH STREQUAL "library")
    file(WRITE "${FILE}" "#include <mpi.h>\n#include <Kokkos_Core.hpp>\n#include <shardtype/shardtype.hpp>\n"
                         "// EXPECT: none\n// LEGAL\n// NEEDS: full\n")
  else()
    file(WRITE "${FILE}" "#include <shardtype/types.hpp>\n// EXPECT: none\n// LEGAL\n")
  endif()
endif()
foreach(required FILE COMPILER FLAGS)
  if(NOT ${required})
    message(FATAL_ERROR "ExpectError: -D${required}=... is missing")
  endif()
endforeach()
file(STRINGS "${FLAGS}" flag_lines)
foreach(line IN LISTS flag_lines)
  if(line MATCHES "^([A-Z_]+)=(.*)$")
    set(${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
  endif()
endforeach()
if(NOT KIND)
  if(COMPILER MATCHES "clang")
    set(KIND clang)
  else()
    set(KIND gcc)
  endif()
endif()
get_filename_component(name "${FILE}" NAME)
set(ENV{LC_ALL} C) # plain quotes, English

# Texts are walked line by line and never become lists: brackets and semicolons would be eaten.
# next_line(<text variable> <line variable>): moves the first line of the one into the other.
macro(next_line text line)
  string(FIND "${${text}}" "\n" _end)
  if(_end EQUAL -1)
    set(${line} "${${text}}")
    set(${text} "")
  else()
    string(SUBSTRING "${${text}}" 0 ${_end} ${line})
    math(EXPR _end "${_end} + 1")
    string(SUBSTRING "${${text}}" ${_end} -1 ${text})
  endif()
endmacro()

# message(FATAL_ERROR) folds long lines; a diagnostic is printed as it is.
function(fail reason diagnostic)
  message(NOTICE "${diagnostic}")
  message(FATAL_ERROR "${name}: ${reason}")
endfunction()

# Lines that are not blank.
function(count_lines text out)
  set(n 0)
  while(NOT text STREQUAL "")
    next_line(text line)
    if(NOT line MATCHES "^[ \t]*$")
      math(EXPR n "${n} + 1")
    endif()
  endwhile()
  set(${out}
      ${n}
      PARENT_SCOPE)
endfunction()

# The notes in the file.
file(READ "${FILE}" source)
set(expects 0)
set(forbids 2)
set(forbid_1 "boost::hana")
set(forbid_2 "Spec{")
set(max_lines 10)
set(max_echoed "")
set(full OFF)
string(FIND "${source}" "LEGAL" has_twin)
while(NOT source STREQUAL "")
  next_line(source line)
  if(line MATCHES "^[ \t]*// EXPECT(-[a-z]+)?:[ \t]*(.*)$")
    set(only "${CMAKE_MATCH_1}")
    string(STRIP "${CMAKE_MATCH_2}" regex)
    if(regex STREQUAL "")
      message(FATAL_ERROR "${name}: an EXPECT line is empty and would match anything")
    endif()
    if(only STREQUAL "" OR only STREQUAL "-${KIND}")
      math(EXPR expects "${expects} + 1")
      set(expect_${expects} "${regex}")
    endif()
  elseif(line MATCHES "^[ \t]*// FORBID:[ \t]*(.*)$")
    math(EXPR forbids "${forbids} + 1")
    string(STRIP "${CMAKE_MATCH_1}" forbid_${forbids})
  elseif(line MATCHES "^[ \t]*// MAX-LINES:[ \t]*([0-9]+)(, ([0-9]+) with echo)?")
    set(max_lines "${CMAKE_MATCH_1}")
    set(max_echoed "${CMAKE_MATCH_3}")
  elseif(line MATCHES "^[ \t]*// NEEDS:.*full")
    set(full ON)
  endif()
endwhile()
if(expects EQUAL 0)
  message(FATAL_ERROR "${name}: no EXPECT line for ${KIND}")
endif()
if(has_twin EQUAL -1)
  message(FATAL_ERROR "${name}: no legal twin (the file never mentions LEGAL)")
endif()

# The compiler's command line.
set(flags -std=c++20 -fsyntax-only)
if(full)
  string(REPLACE "|" ";" definitions "${FULL_DEFINITIONS}")
  foreach(definition IN LISTS definitions)
    list(APPEND flags "-D${definition}")
  endforeach()
  string(REPLACE "|" ";" options "${FULL_OPTIONS}")
  list(APPEND flags ${options})
  string(REPLACE "|" ";" includes "${FULL_INCLUDES}|${TYPES_INCLUDES}")
else()
  string(REPLACE "|" ";" includes "${TYPES_INCLUDES}")
endif()
list(REMOVE_DUPLICATES includes)
foreach(include IN LISTS includes)
  if(include MATCHES "^/usr(/local)?/include/?$" OR include STREQUAL "")
    continue() # searched anyway; naming it would reorder the search
  endif()
  if(IS_DIRECTORY "${include}/shardtype")
    list(APPEND flags -I "${include}")
  else()
    list(APPEND flags -isystem "${include}") # others' warnings are not our message
  endif()
endforeach()
if(MAKE_PCH)
  if(KIND STREQUAL "clang")
    set(made "${PCH}/${MAKE_PCH}.pch")
  else()
    set(made "${FILE}.gch")
  endif()
  list(REMOVE_ITEM flags -fsyntax-only)
  execute_process(COMMAND "${COMPILER}" ${flags} -x c++-header "${FILE}" -o "${made}"
                          COMMAND_ERROR_IS_FATAL ANY)
  if(MAKE_PCH STREQUAL "library")
    execute_process(COMMAND "${CMAKE_COMMAND}" -DMAKE_PCH=types "-DPCH=${PCH}" "-DCOMPILER=${COMPILER}"
                            "-DKIND=${KIND}" "-DFLAGS=${FLAGS}" -P
                            "${CMAKE_CURRENT_LIST_FILE}" COMMAND_ERROR_IS_FATAL ANY)
  endif()
  return()
endif()
if(PCH)
  set(header types)
  if(full)
    set(header library)
  endif()
  if(KIND STREQUAL "clang")
    list(APPEND flags -include-pch "${PCH}/${header}.pch")
  else()
    list(APPEND flags -include "${PCH}/${header}.hpp")
  endif()
endif()
if(KIND STREQUAL "clang")
  set(plain -fno-color-diagnostics)
else()
  set(plain -fdiagnostics-color=never -fmessage-length=0)
endif()

# A diagnostic without its source echo: lines that begin with a line number, or room for one, and a bar.
function(without_echo text out)
  set(kept "")
  while(NOT text STREQUAL "")
    next_line(text line)
    if(NOT line MATCHES "^ *[0-9]* \\|")
      string(APPEND kept "${line}\n")
    endif()
  endwhile()
  set(${out}
      "${kept}"
      PARENT_SCOPE)
endfunction()

function(compile out_status out_text)
  execute_process(
    COMMAND "${COMPILER}" ${flags} ${ARGN} "${FILE}"
    RESULT_VARIABLE status
    OUTPUT_VARIABLE text
    ERROR_VARIABLE text)
  if(NOT status MATCHES "^[0-9]+$" OR text MATCHES "internal compiler error|PLEASE submit a bug report")
    fail("the compiler did not run to its end (${status})" "${text}")
  endif()
  set(${out_status}
      ${status}
      PARENT_SCOPE)
  set(${out_text}
      "${text}"
      PARENT_SCOPE)
endfunction()

if(NOT PART STREQUAL "illegal")
  compile(status text -DLEGAL ${plain})
  if(NOT status EQUAL 0)
    fail("the legal twin does not compile (diagnostic above)" "${text}")
  endif()
endif()
if(PART STREQUAL "legal")
  return()
endif()

compile(status echoed ${plain})
without_echo("${echoed}" diagnostic)
if(status EQUAL 0)
  message(FATAL_ERROR "${name}: the illegal program is accepted")
endif()
if(SHOW)
  message(NOTICE "${diagnostic}")
endif()

set(complaints "")
foreach(i RANGE 1 ${expects})
  if(NOT diagnostic MATCHES "${expect_${i}}")
    string(APPEND complaints "  text missing: ${expect_${i}}\n")
  endif()
endforeach()
foreach(i RANGE 1 ${forbids})
  if(diagnostic MATCHES "${forbid_${i}}")
    string(APPEND complaints "  leak: ${forbid_${i}}\n")
  endif()
endforeach()
count_lines("${diagnostic}" lines)
if(lines GREATER max_lines)
  string(APPEND complaints "  too long: ${lines} lines without source echo, at most ${max_lines}\n")
endif()
count_lines("${echoed}" echoed_lines)
if(max_echoed STREQUAL "")
  math(EXPR max_echoed "2 * ${max_lines}")
endif()
if(echoed_lines GREATER max_echoed)
  string(APPEND complaints "  too long: ${echoed_lines} lines with source echo, at most ${max_echoed}\n")
endif()
if(complaints)
  fail("diagnostic of ${KIND}, above:\n${complaints}" "${diagnostic}")
endif()
message(STATUS "${name} (${KIND}): ${lines} lines, ${echoed_lines} with source echo")
