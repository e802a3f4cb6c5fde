# SPDX-License-Identifier: Apache-2.0
# Warnings, optimisation and sanitizers of everything that this package compiles.

set(TAKT_SANITIZE "" CACHE STRING
  "Sanitizers: 'address;undefined', 'thread', or with Clang 'address;undefined;fuzzer-no-link'")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Type of build" FORCE)
endif()

function(takt_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  if(TAKT_SANITIZE)
    string(REPLACE ";" "," sanitizers "${TAKT_SANITIZE}")
    target_compile_options(${target} PUBLIC
      -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${sanitizers})
  endif()
endfunction()
