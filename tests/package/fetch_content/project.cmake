# Included by project() of the project that the page shows; adds to its end what else a fetched library must do.
function(after_the_page)
  # As a subproject the library brings no tests, examples or benchmarks, and no packages.
  if(TARGET shardtype_warnings)
    message(FATAL_ERROR "shardtype defines its own tests inside another project")
  endif()
  if(EXISTS "${CMAKE_BINARY_DIR}/CPackConfig.cmake")
    message(FATAL_ERROR "shardtype defines its own package inside another project")
  endif()
  add_executable(consumer_types "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../types.cpp")
  target_link_libraries(consumer_types PRIVATE shardtype::types)
endfunction()
cmake_language(DEFER CALL after_the_page)
