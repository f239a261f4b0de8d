# libpng as Shardtype::PNG, for pictures of tensors. Without it save_png is an Error, and so it is in a compiled part that
# was built without it, whose package looks for none.
list(APPEND shardtype_family_targets Shardtype::PNG)
list(APPEND shardtype_family_choices shardtype_png)
if(NOT DEFINED shardtype_png)
  set(shardtype_png auto)
endif()
if(shardtype_png STREQUAL auto AND NOT TARGET Shardtype::PNG)
  find_path(SHARDTYPE_PNG_INCLUDE_DIR png.h)
  find_library(SHARDTYPE_PNG_LIBRARY NAMES png png16)
  mark_as_advanced(SHARDTYPE_PNG_INCLUDE_DIR SHARDTYPE_PNG_LIBRARY)
  if(SHARDTYPE_PNG_INCLUDE_DIR AND SHARDTYPE_PNG_LIBRARY)
    add_library(Shardtype::PNG INTERFACE IMPORTED)
    set_target_properties(
      Shardtype::PNG
      PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${SHARDTYPE_PNG_INCLUDE_DIR}" INTERFACE_LINK_LIBRARIES
                                                                              "${SHARDTYPE_PNG_LIBRARY}"
                 INTERFACE_COMPILE_DEFINITIONS SHARDTYPE_HAVE_PNG=1)
  endif()
endif()
if(NOT TARGET Shardtype::PNG)
  set(shardtype_png none)
endif()
