# fast_matrix_market (headers only) as Shardtype::MatrixMarket where it is found, for examples/matrix_market.cpp. Few
# distributions have it: the folder that holds fast_matrix_market/ may be given as SHARDTYPE_MATRIX_MARKET_INCLUDE_DIR.
include_guard(GLOBAL)
find_path(SHARDTYPE_MATRIX_MARKET_INCLUDE_DIR fast_matrix_market/fast_matrix_market.hpp)
mark_as_advanced(SHARDTYPE_MATRIX_MARKET_INCLUDE_DIR)
if(SHARDTYPE_MATRIX_MARKET_INCLUDE_DIR)
  find_package(Threads REQUIRED)
  add_library(Shardtype::MatrixMarket INTERFACE IMPORTED)
  set_target_properties(
    Shardtype::MatrixMarket
    PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${SHARDTYPE_MATRIX_MARKET_INCLUDE_DIR}"
               INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
