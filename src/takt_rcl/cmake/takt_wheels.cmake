# SPDX-License-Identifier: Apache-2.0
#
# Makes executables find ROS 2 where it comes from Python wheels instead of an installation.
#
# The middleware loads type supports with dlopen() by their short name, and only the executable's
# DT_RPATH (not its RUNPATH) is searched for those and for the needs of other libraries. A ROS 2
# installation solves this with LD_LIBRARY_PATH, so there this does nothing. --as-needed drops the
# Python libraries that the wheels' targets name without need and that a C++ program cannot load.

set(TAKT_ROS_WHEELS "" CACHE PATH "prefix of a ROS 2 made of wheels; empty on a ROS 2 installation")

# Call once in a CMakeLists.txt, before the first target.
macro(takt_use_wheels_rpath)
  if(TAKT_ROS_WHEELS)
    if(NOT IS_DIRECTORY "${TAKT_ROS_WHEELS}/lib")
      message(FATAL_ERROR
        "TAKT_ROS_WHEELS=${TAKT_ROS_WHEELS} has no folder lib; give the prefix (virtual "
        "environment) into which the ros-* wheels were installed, or leave it empty.")
    endif()
    # Libraries that a wheel brings along from its build machine.
    file(GLOB _takt_wheel_libs "${TAKT_ROS_WHEELS}/lib/python3.*/site-packages/ros_*.libs")
    list(APPEND CMAKE_BUILD_RPATH "${TAKT_ROS_WHEELS}/lib" ${_takt_wheel_libs})
    list(APPEND CMAKE_INSTALL_RPATH
      "$ORIGIN" "$ORIGIN/.." "${TAKT_ROS_WHEELS}/lib" ${_takt_wheel_libs})
    set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
    add_link_options(-Wl,--disable-new-dtags -Wl,--as-needed)
    unset(_takt_wheel_libs)
  endif()
endmacro()
