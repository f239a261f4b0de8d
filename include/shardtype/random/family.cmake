# Random123 (headers only) as Random123::Random123.
list(APPEND shardtype_family_targets Random123::Random123)
if(NOT TARGET Random123::Random123)
  find_path(SHARDTYPE_RANDOM123_INCLUDE_DIR Random123/philox.h)
  mark_as_advanced(SHARDTYPE_RANDOM123_INCLUDE_DIR)
  if(SHARDTYPE_RANDOM123_INCLUDE_DIR)
    add_library(Random123::Random123 INTERFACE IMPORTED)
    set_target_properties(Random123::Random123 PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
                                                          "${SHARDTYPE_RANDOM123_INCLUDE_DIR}")
  endif()
endif()
