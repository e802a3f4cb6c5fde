# SPDX-License-Identifier: Apache-2.0
# Looks for Cyclone DDS: sets TAKT_HAS_CYCLONEDDS and the target takt_cyclonedds, which is its C
# library with the generated headers sample.h and text.h.

set(TAKT_HAS_CYCLONEDDS FALSE)
find_package(CycloneDDS QUIET)
if(NOT CycloneDDS_FOUND OR NOT COMMAND idlc_generate)
  message(STATUS "probe_cyclonedds is not built: Cyclone DDS was not found (on Debian: "
    "apt-get install --no-install-recommends cyclonedds-dev cyclonedds-tools)")
  return()
endif()
set(TAKT_HAS_CYCLONEDDS TRUE)

# Ends are matched by the name of the type, as the stacks without type information do it.
idlc_generate(TARGET takt_cyclonedds_type NO_TYPE_INFO
  FILES ${PROJECT_SOURCE_DIR}/src/cyclonedds/sample.idl
        ${PROJECT_SOURCE_DIR}/src/cyclonedds/text.idl)
add_library(takt_cyclonedds INTERFACE)
target_link_libraries(takt_cyclonedds INTERFACE takt_cyclonedds_type CycloneDDS::ddsc)
