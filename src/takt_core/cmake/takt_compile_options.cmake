# SPDX-License-Identifier: Apache-2.0
# Warnings, optimisation and sanitizers of everything that this package compiles.

set(TAKT_SANITIZE "" CACHE STRING
  "Sanitizers: 'address;undefined', 'thread', or with Clang 'address;undefined;fuzzer-no-link'")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Type of build" FORCE)
endif()

# Most of the compile time goes into headers and templates that files share: half of it is saved.
option(TAKT_AS_A_WHOLE "Compile groups of files together; OFF where you change single files" ON)

# takt_compile_together(TARGET GROUP SOURCES...): as one file.
function(takt_compile_together target group)
  if(TAKT_AS_A_WHOLE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${group})
    if(group MATCHES "_setup$" AND NOT TAKT_SANITIZE)
      # It runs once, and compiles a quarter longer with more. CMake's name of the file, since sources
      # with options of their own would not be a part of it.
      set_source_files_properties(
        "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/Unity/unity_${group}_cxx.cxx"
        PROPERTIES COMPILE_OPTIONS -O1)
    endif()
  endif()
endfunction()

# The headers of the standard library that nearly every file has: a third of the compile time.
# Whether each file includes what it needs is seen by clang-tidy and by the build with GCC 14.
function(takt_precompile target)
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <chrono> <functional>
    <map> <memory> <mutex> <optional> <span> <string> <system_error> <variant> <vector>)
endfunction()

function(takt_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  if(TAKT_SANITIZE)
    string(REPLACE ";" "," sanitizers "${TAKT_SANITIZE}")
    target_compile_options(${target} PUBLIC
      -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${sanitizers})
  endif()
endfunction()
