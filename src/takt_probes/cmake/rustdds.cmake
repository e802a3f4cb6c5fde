# SPDX-License-Identifier: Apache-2.0
# Looks for RustDDS behind its C interface: sets TAKT_HAS_RUSTDDS and the target takt_rustdds. It is
# a crate of this source tree, which takes minutes to build and is not for everybody: it belongs to
# the build once its library is there, as `./takt setup rustdds` makes it.

set(TAKT_HAS_RUSTDDS FALSE)
set(crate ${PROJECT_SOURCE_DIR}/../takt_rustdds)
get_filename_component(target ${PROJECT_BINARY_DIR}/../takt_rustdds ABSOLUTE)
set(TAKT_RUSTDDS_TARGET ${target} CACHE PATH "Where cargo builds the crate takt_rustdds")
set(library ${TAKT_RUSTDDS_TARGET}/release/libtakt_rustdds.a)
find_program(TAKT_CARGO cargo HINTS $ENV{CARGO_HOME}/bin $ENV{HOME}/.cargo/bin)
if(NOT EXISTS ${crate}/Cargo.lock OR NOT TAKT_CARGO OR NOT EXISTS ${library})
  message(STATUS "probe_rustdds is not built: ask for it (./takt setup rustdds, needs cargo)")
  return()
endif()
set(TAKT_HAS_RUSTDDS TRUE)

add_custom_command(OUTPUT ${library}
  COMMAND ${TAKT_CARGO} build --release --locked --quiet --target-dir ${TAKT_RUSTDDS_TARGET}
  COMMAND ${CMAKE_COMMAND} -E touch ${library}  # where cargo found nothing to do
  DEPENDS ${crate}/Cargo.toml ${crate}/Cargo.lock ${crate}/src/lib.rs ${crate}/src/link.rs
  WORKING_DIRECTORY ${crate} VERBATIM)
add_custom_target(takt_rustdds_library DEPENDS ${library})
file(STRINGS ${crate}/Cargo.toml version REGEX "^rustdds = ")
string(REGEX REPLACE ".*=([0-9.]+)\".*" "\\1" version "${version}")

add_library(takt_rustdds INTERFACE)
add_dependencies(takt_rustdds takt_rustdds_library)
target_include_directories(takt_rustdds INTERFACE ${crate}/include)
target_compile_definitions(takt_rustdds INTERFACE TAKT_RUSTDDS_VERSION="${version}")
find_package(Threads REQUIRED)
target_link_libraries(takt_rustdds INTERFACE
  ${library} Threads::Threads ${CMAKE_DL_LIBS} m)
