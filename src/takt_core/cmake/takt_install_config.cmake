# SPDX-License-Identifier: Apache-2.0
# What ament_package() would generate: find_package(takt_core) of an installation without ament.
include(CMakePackageConfigHelpers)

set(takt_core_cmake_dir share/takt_core/cmake)
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/takt_coreConfig.cmake" "\
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(\"\${CMAKE_CURRENT_LIST_DIR}/takt_coreExport.cmake\")
include(\"\${CMAKE_CURRENT_LIST_DIR}/takt_real_time_linking.cmake\")
")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/takt_coreConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(EXPORT takt_core NAMESPACE takt_core:: FILE takt_coreExport.cmake
  DESTINATION ${takt_core_cmake_dir} COMPONENT development)
install(FILES
  "${CMAKE_CURRENT_BINARY_DIR}/takt_coreConfig.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/takt_coreConfigVersion.cmake"
  cmake/takt_real_time_linking.cmake
  DESTINATION ${takt_core_cmake_dir} COMPONENT development)
