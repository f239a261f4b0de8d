# CI takes a sample of the tests, others on each day of the last commit: CI of a commit can be repeated, and all have their
# turn. `scripts/test --every` takes every test, and `--all` more programs and cases of those that draw these.
#   shardtype_drawn(<name> <parts> <out>)     whether CI takes a test: one in `parts`
#   shardtype_left_out(<name> <parts> <out>)  whether CI leaves it out: one in `parts`
include_guard(GLOBAL)
option(SHARDTYPE_DRAW_TESTS "Build and run a sample of the tests, as CI does" ON)
mark_as_advanced(SHARDTYPE_DRAW_TESTS)
set(shardtype_day 0)
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(
    COMMAND "${GIT_EXECUTABLE}" -C "${CMAKE_CURRENT_LIST_DIR}" log -1 --format=%ct
    OUTPUT_VARIABLE shardtype_day OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT shardtype_day)
  set(shardtype_day 0)
endif()
math(EXPR shardtype_day "${shardtype_day} / 86400")
function(shardtype_drawn name parts out)
  string(MD5 digest "${name}")
  string(SUBSTRING "${digest}" 0 6 digest)
  math(EXPR place "(0x${digest} + ${shardtype_day}) % ${parts}")
  set(drawn OFF)
  if(SHARDTYPE_ALL_TESTS OR NOT SHARDTYPE_DRAW_TESTS OR place EQUAL 0)
    set(drawn ON)
  endif()
  set(${out}
      ${drawn}
      PARENT_SCOPE)
endfunction()
function(shardtype_left_out name parts out)
  set(left_out OFF)
  if(SHARDTYPE_DRAW_TESTS AND NOT SHARDTYPE_ALL_TESTS)
    shardtype_drawn(${name} ${parts} left_out)
  endif()
  set(${out}
      ${left_out}
      PARENT_SCOPE)
endfunction()
