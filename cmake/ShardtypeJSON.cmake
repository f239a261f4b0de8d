# nlohmann-json (headers only) as Shardtype::JSON where it is found, for shardtype/checkpoint/. Optional.
# Also used by the installed package.
if(NOT TARGET Shardtype::JSON)
  find_path(SHARDTYPE_JSON_INCLUDE_DIR nlohmann/json.hpp)
  mark_as_advanced(SHARDTYPE_JSON_INCLUDE_DIR)
  if(SHARDTYPE_JSON_INCLUDE_DIR)
    add_library(Shardtype::JSON INTERFACE IMPORTED)
    set_target_properties(
      Shardtype::JSON PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${SHARDTYPE_JSON_INCLUDE_DIR}"
                                 INTERFACE_COMPILE_DEFINITIONS SHARDTYPE_HAVE_JSON=1)
  endif()
endif()
