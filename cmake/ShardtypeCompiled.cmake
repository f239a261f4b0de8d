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

add_library(shardtype_compiled ${shardtype_sources})
add_library(shardtype::compiled ALIAS shardtype_compiled)
set_target_properties(shardtype_compiled PROPERTIES EXPORT_NAME compiled CXX_EXTENSIONS OFF
                                                    POSITION_INDEPENDENT_CODE ON)
target_link_libraries(shardtype_compiled PUBLIC shardtype)
target_compile_definitions(shardtype_compiled PUBLIC SHARDTYPE_COMPILED=1)
if(NOT SHARDTYPE_COMPILED)
  set_target_properties(shardtype_compiled PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
