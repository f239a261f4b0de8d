# install(), the exported targets and the package configuration.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(shardtype_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/shardtype")

install(
  TARGETS shardtype shardtype_types shardtype_precompiled_header
  EXPORT shardtypeTargets
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
# Headers are for every architecture.
set(shardtype_architectures ARCH_INDEPENDENT)
if(SHARDTYPE_COMPILED)
  set(shardtype_architectures "")
  install(
    TARGETS shardtype_compiled
    EXPORT shardtypeTargets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
install(
  EXPORT shardtypeTargets
  NAMESPACE shardtype::
  DESTINATION "${shardtype_package_dir}")

set(shardtype_chosen "")
foreach(choice IN LISTS shardtype_family_choices)
  string(APPEND shardtype_chosen "if(NOT DEFINED ${choice})\n  set(${choice} \"${${choice}}\")\nendif()\n")
endforeach()
set(SHARDTYPE_KOKKOS_DEVICES ${Kokkos_DEVICES})
list(SORT SHARDTYPE_KOKKOS_DEVICES)
list(JOIN SHARDTYPE_KOKKOS_DEVICES "," SHARDTYPE_KOKKOS_DEVICES)
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/shardtypeConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/shardtypeConfig.cmake" INSTALL_DESTINATION "${shardtype_package_dir}")
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/shardtypeConfigVersion.cmake" COMPATIBILITY SameMinorVersion
  ${shardtype_architectures})

install(
  FILES "${PROJECT_BINARY_DIR}/shardtypeConfig.cmake"
        "${PROJECT_BINARY_DIR}/shardtypeConfigVersion.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/ShardtypeBoost.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/ShardtypeMPI.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/ShardtypeKokkos.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/ShardtypeBLAS.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/ShardtypeFamilies.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/ShardtypeVectorMath.cmake"
  DESTINATION "${shardtype_package_dir}")
foreach(file IN LISTS shardtype_families)
  get_filename_component(folder "${file}" DIRECTORY)
  get_filename_component(family "${folder}" NAME)
  install(
    FILES "${file}"
    DESTINATION "${shardtype_package_dir}/families"
    RENAME "${family}.cmake")
endforeach()
# The pages, and the programs that they name, as they lie in the repository: their links hold.
install(
  FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
        "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" "${PROJECT_SOURCE_DIR}/examples"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}" FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.cpp" PATTERN "*.hpp")
