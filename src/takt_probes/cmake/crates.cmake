# SPDX-License-Identifier: Apache-2.0
# Looks for stacks in Rust behind their C interfaces: sets TAKT_HAS_<STACK> and the target
# takt_<stack> for RustDDS, iceoryx2, Zenoh and EtherCAT. They are crates of this source tree, which
# take minutes to build and are not for everybody: each belongs to the build once its library is
# there, as `./takt setup NAME` makes it.

find_program(TAKT_CARGO cargo HINTS $ENV{CARGO_HOME}/bin $ENV{HOME}/.cargo/bin)
get_filename_component(folder ${PROJECT_BINARY_DIR}/.. ABSOLUTE)
set(TAKT_CRATES ${folder} CACHE PATH "Where cargo builds each crate, in a folder of its name")
find_package(Threads REQUIRED)

# `dependency`: of the crate, whose version is that of the stack.
function(takt_use_crate stack dependency)
  string(TOUPPER ${stack} upper)
  set(TAKT_HAS_${upper} FALSE PARENT_SCOPE)
  set(crate ${PROJECT_SOURCE_DIR}/../takt_${stack})
  set(shared ${PROJECT_SOURCE_DIR}/../takt_c)
  set(target ${TAKT_CRATES}/takt_${stack})
  set(library ${target}/release/libtakt_${stack}.a)
  if(NOT EXISTS ${crate}/Cargo.lock OR NOT TAKT_CARGO OR NOT EXISTS ${library})
    message(STATUS
      "probe_${stack} is not built: ask for it (./takt setup ${stack}, needs cargo)")
    return()
  endif()
  set(TAKT_HAS_${upper} TRUE PARENT_SCOPE)

  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${crate}/src/*.rs ${shared}/src/*.rs)
  add_custom_command(OUTPUT ${library}
    COMMAND ${TAKT_CARGO} build --release --locked --quiet --target-dir ${target}
    COMMAND ${CMAKE_COMMAND} -E touch ${library}  # where cargo found nothing to do
    DEPENDS ${crate}/Cargo.toml ${crate}/Cargo.lock ${sources}
    WORKING_DIRECTORY ${crate} VERBATIM)
  add_custom_target(takt_${stack}_library DEPENDS ${library})
  file(STRINGS ${crate}/Cargo.toml version REGEX "^${dependency} = ")
  string(REGEX REPLACE ".*\"=([0-9.]+)\".*" "\\1" version "${version}")

  add_library(takt_${stack} INTERFACE)
  add_dependencies(takt_${stack} takt_${stack}_library)
  target_include_directories(takt_${stack} INTERFACE ${crate}/include ${shared}/include)
  target_compile_definitions(takt_${stack} INTERFACE TAKT_${upper}_VERSION="${version}")
  target_link_libraries(takt_${stack} INTERFACE
    ${library} Threads::Threads ${CMAKE_DL_LIBS} m)
endfunction()

takt_use_crate(rustdds rustdds)
takt_use_crate(iceoryx2 iceoryx2)
takt_use_crate(zenoh zenoh)
takt_use_crate(ethercat ethercrab)
