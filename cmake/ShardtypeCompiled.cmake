# shardtype::compiled: the engine, compiled once (src/). A target that links it uses it instead of the definitions in
# headers; include/shardtype/core/compiled.hpp says how.
set(shardtype_elements
    float
    double
    std::int32_t
    std::int64_t
    bfloat16
    Kokkos::complex<float>
    Kokkos::complex<double>)
file(GLOB shardtype_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.cpp")
foreach(element IN LISTS shardtype_elements)
  string(MAKE_C_IDENTIFIER "${element}" id)
  set(unit "${PROJECT_BINARY_DIR}/src/elements_${id}.cpp")
  configure_file("${PROJECT_SOURCE_DIR}/src/elements.cpp.in" "${unit}" @ONLY)
  list(APPEND shardtype_sources "${unit}")
endforeach()

# shardtype_add_compiled(<target>): the library of all these sources. The elementary functions of a larger instruction set
# are units of their own, compiled for it; the processor decides which are called.
function(shardtype_add_compiled target)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    set_source_files_properties("${PROJECT_SOURCE_DIR}/src/vector_functions_avx2.cpp" PROPERTIES COMPILE_OPTIONS
                                                                                                 "-mavx2;-mfma")
    set_source_files_properties("${PROJECT_SOURCE_DIR}/src/vector_functions_avx512.cpp"
                                PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mavx512f;-mavx512dq")
  endif()
  add_library(${target} ${shardtype_sources})
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target} PUBLIC shardtype)
  target_compile_definitions(${target} PUBLIC SHARDTYPE_COMPILED=1)
endfunction()

shardtype_add_compiled(shardtype_compiled)
add_library(shardtype::compiled ALIAS shardtype_compiled)
set_target_properties(shardtype_compiled PROPERTIES EXPORT_NAME compiled)
if(NOT SHARDTYPE_COMPILED)
  set_target_properties(shardtype_compiled PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
