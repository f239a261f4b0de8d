# nlohmann-json (headers only) as Shardtype::JSON. Without it a call does not compile, and a compiled part that was built
# without it has no checkpoints, so its package looks for none.
list(APPEND shardtype_family_targets Shardtype::JSON)
list(APPEND shardtype_family_choices shardtype_json)
if(NOT DEFINED shardtype_json)
  set(shardtype_json auto)
endif()
if(shardtype_json STREQUAL auto AND NOT TARGET Shardtype::JSON)
  find_path(SHARDTYPE_JSON_INCLUDE_DIR nlohmann/json.hpp)
  mark_as_advanced(SHARDTYPE_JSON_INCLUDE_DIR)
  if(SHARDTYPE_JSON_INCLUDE_DIR)
    add_library(Shardtype::JSON INTERFACE IMPORTED)
    set_target_properties(
      Shardtype::JSON PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${SHARDTYPE_JSON_INCLUDE_DIR}"
                                 INTERFACE_COMPILE_DEFINITIONS SHARDTYPE_HAVE_JSON=1)
  endif()
endif()
if(NOT TARGET Shardtype::JSON)
  set(shardtype_json none)
endif()
