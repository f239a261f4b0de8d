# install(), the exported targets and the package configuration.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(shardtype_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/shardtype")

install(
  TARGETS shardtype shardtype_types
  EXPORT shardtypeTargets
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(
  EXPORT shardtypeTargets
  NAMESPACE shardtype::
  DESTINATION "${shardtype_package_dir}")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/shardtypeConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/shardtypeConfig.cmake" INSTALL_DESTINATION "${shardtype_package_dir}")
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/shardtypeConfigVersion.cmake" COMPATIBILITY SameMinorVersion
  ARCH_INDEPENDENT)

install(
  FILES "${PROJECT_BINARY_DIR}/shardtypeConfig.cmake"
        "${PROJECT_BINARY_DIR}/shardtypeConfigVersion.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/ShardtypeBoost.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/ShardtypeMPI.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/ShardtypeKokkos.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/ShardtypeBLAS.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/ShardtypeFFT.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/ShardtypeRandom123.cmake"
  DESTINATION "${shardtype_package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
