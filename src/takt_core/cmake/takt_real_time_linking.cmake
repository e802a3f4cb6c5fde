# SPDX-License-Identifier: Apache-2.0
#
# How programs and libraries with real-time loops are linked against takt_core.

# Call once in a CMakeLists.txt, before the first target.
macro(takt_use_real_time_linking)
  # All functions of other libraries are looked up at the start. Otherwise each is at its first call,
  # which may be in a loop: a search through all libraries, of unknown length and under a lock.
  add_link_options(LINKER:-z,now)
  # What is installed in one prefix finds libtakt_core.so there, wherever that prefix is put, and
  # without LD_LIBRARY_PATH. Programs with capabilities are given neither that nor $ORIGIN: they find
  # it where it was when they were linked.
  list(APPEND CMAKE_INSTALL_RPATH "$ORIGIN" "$ORIGIN/..")
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
endmacro()
