# Makes a project by scripts/new and runs the two commands that its README.md shows. See CMakeLists.txt.
cmake_minimum_required(VERSION 3.23)

string(REPLACE "|||" ";" variables "${VARIABLES}")
string(REPLACE "|" "\\;" variables "${variables}")
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}/taken")

# run(<folder> <command>...): sets status and text.
function(run folder)
  execute_process(
    COMMAND ${ARGN}
    WORKING_DIRECTORY "${folder}"
    RESULT_VARIABLE status
    OUTPUT_VARIABLE text
    ERROR_VARIABLE text)
  set(status "${status}" PARENT_SCOPE)
  set(text "${text}" PARENT_SCOPE)
endfunction()

# Bad names are refused by a sentence, and nothing is made.
set(new "${SOURCE}/scripts/new")
function(refused words)
  run("${WORK}" "${new}" ${ARGN})
  string(FIND "${text}" "new: ${words}" at)
  if(NOT status EQUAL 2 OR NOT at EQUAL 0 OR NOT text MATCHES "usage: new NAME")
    message(FATAL_ERROR "scripts/new ${ARGN} ends with ${status} and says: ${text}")
  endif()
endfunction()
refused("one argument is needed, the project's name; there are 0")
refused("one argument is needed, the project's name; there are 2" one two)
refused("there is a \"taken\" already" taken)
foreach(name "two words" "a/b" "../up" "1st" "-x" ".hidden" "a@b" "a$b" "naïve")
  refused("\"${name}\" is no name of a project" "${name}")
endforeach()
refused("\"test\" is taken" test)
file(GLOB made RELATIVE "${WORK}" "${WORK}/*" "${WORK}/taken/*")
if(NOT made STREQUAL "taken")
  message(FATAL_ERROR "refused, scripts/new has made ${made}")
endif()

run("${WORK}" "${new}" first-project_1)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "scripts/new failed (${status}): ${text}")
endif()

# Its commands, as they stand there; the first gets the compiler and the flags of this build.
file(READ "${WORK}/first-project_1/README.md" text)
string(REGEX REPLACE " *#[^\n]*" "" text "${text}")
if(NOT text MATCHES "```sh\n([^\n]*)\n([^\n]*)\n```")
  message(FATAL_ERROR "its README.md shows no two commands")
endif()
separate_arguments(first UNIX_COMMAND "${CMAKE_MATCH_1}")
separate_arguments(second UNIX_COMMAND "${CMAKE_MATCH_2}")
list(APPEND first -G "${GENERATOR}" ${variables} "-Dshardtype_ROOT=${ROOT}")
foreach(command first second)
  run("${WORK}/first-project_1" ${${command}})
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${${command}} failed (${status}): ${text}")
  endif()
endforeach()
if(NOT text MATCHES "tests passed, 0 tests failed out of 2")
  message(FATAL_ERROR "its second command runs no two tests: ${text}")
endif()
string(REPLACE "|" ";" launch "${RUN}")
run("${WORK}" ${launch} "${WORK}/first-project_1/build/first-project_1")
if(NOT status EQUAL 0 OR NOT text MATCHES "4\\. 4\\. 4\\. 4\\.")
  message(FATAL_ERROR "its program ends with ${status}: ${text}")
endif()
