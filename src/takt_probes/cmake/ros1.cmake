# SPDX-License-Identifier: Apache-2.0
# Looks for ROS 1: sets TAKT_HAS_ROS1 and the target takt_ros1, which is roscpp with the generated
# header takt_ros1/Sample.h. No catkin: roscpp comes with pkg-config, its generator is a script.

set(TAKT_HAS_ROS1 FALSE)
set(missing)
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(ROSCPP QUIET IMPORTED_TARGET roscpp)
endif()
if(NOT ROSCPP_FOUND)
  list(APPEND missing "roscpp (through pkg-config)")
endif()
find_file(TAKT_GEN_CPP gen_cpp.py HINTS ${ROSCPP_PREFIX}/lib/gencpp /usr/lib/gencpp)
find_path(TAKT_GENCPP_TEMPLATES msg.h.template HINTS ${ROSCPP_PREFIX}/share/gencpp /usr/share/gencpp)
# Not the Python of an active environment, nor its PYTHONPATH (-E): the generator's modules are the
# system's.
find_program(TAKT_ROS1_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(NOT TAKT_GEN_CPP OR NOT TAKT_GENCPP_TEMPLATES OR NOT TAKT_ROS1_PYTHON)
  list(APPEND missing "gencpp")
else()
  execute_process(COMMAND ${TAKT_ROS1_PYTHON} -E -c "import genmsg"
    RESULT_VARIABLE genmsg_missing OUTPUT_QUIET ERROR_QUIET)
  if(genmsg_missing)
    list(APPEND missing "genmsg for ${TAKT_ROS1_PYTHON}")
  endif()
endif()

if(missing)
  list(JOIN missing ", " missing)
  message(STATUS "probe_ros1 is not built: ${missing} was not found (on Debian: apt-get install "
    "--no-install-recommends pkg-config libroscpp-dev ros-message-generation python3-rosmaster)")
  return()
endif()
set(TAKT_HAS_ROS1 TRUE)

set(message ${PROJECT_SOURCE_DIR}/src/ros1/msg/Sample.msg)
set(folder ${PROJECT_BINARY_DIR}/ros1)
add_custom_command(OUTPUT ${folder}/takt_ros1/Sample.h
  COMMAND ${TAKT_ROS1_PYTHON} -E ${TAKT_GEN_CPP} ${message} -p takt_ros1 -o ${folder}/takt_ros1
    -e ${TAKT_GENCPP_TEMPLATES}
  DEPENDS ${message} ${TAKT_GEN_CPP} VERBATIM)
add_custom_target(takt_ros1_header DEPENDS ${folder}/takt_ros1/Sample.h)

add_library(takt_ros1 INTERFACE)
add_dependencies(takt_ros1 takt_ros1_header)
target_include_directories(takt_ros1 SYSTEM INTERFACE ${folder})
target_link_libraries(takt_ros1 INTERFACE PkgConfig::ROSCPP)
