# SPDX-License-Identifier: Apache-2.0
#
# How programs and libraries with real-time loops are linked against takt_core.

# Call once in a CMakeLists.txt, before the first target.
macro(takt_use_real_time_linking)
  # All functions of other libraries are looked up at the start. Otherwise each is at its first call,
  # which may be in a loop: a search through all libraries, of unknown length and under a lock.
  add_link_options(LINKER:-z,now)
  # What is installed in one prefix finds libtakt_core.so there, wherever that prefix is put, and
  # without LD_LIBRARY_PATH, which programs with capabilities are not given.
  list(APPEND CMAKE_INSTALL_RPATH "$ORIGIN" "$ORIGIN/..")
endmacro()
