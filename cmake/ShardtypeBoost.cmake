# Boost headers (Hana) as Boost::headers. Also used by the installed package.
if(NOT TARGET Boost::headers)
  find_package(Boost 1.70 CONFIG QUIET)
endif()
if(NOT TARGET Boost::headers)
  find_path(SHARDTYPE_BOOST_INCLUDE_DIR boost/hana/type.hpp)
  mark_as_advanced(SHARDTYPE_BOOST_INCLUDE_DIR)
  if(NOT SHARDTYPE_BOOST_INCLUDE_DIR)
    message(FATAL_ERROR "shardtype: Boost headers (boost/hana/type.hpp) not found; "
                        "install Boost 1.70 or later or set Boost_DIR")
  endif()
  add_library(Boost::headers INTERFACE IMPORTED)
  set_target_properties(Boost::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES
                                                  "${SHARDTYPE_BOOST_INCLUDE_DIR}")
endif()
