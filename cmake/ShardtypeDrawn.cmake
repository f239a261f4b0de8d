# shardtype_drawn(<name> <parts> <out>): whether CI takes a test of a sample: one in `parts`, others on each day of the
# last commit, so that CI of a commit can be repeated and all have their turn. scripts/test --all takes all.
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
  if(SHARDTYPE_ALL_TESTS OR place EQUAL 0)
    set(drawn ON)
  endif()
  set(${out}
      ${drawn}
      PARENT_SCOPE)
endfunction()
