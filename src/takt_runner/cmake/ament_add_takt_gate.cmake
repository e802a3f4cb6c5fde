# SPDX-License-Identifier: Apache-2.0

# Adds a test that runs an application and judges its traces with `takt gate`.
#
#   ament_add_takt_gate(<app.yaml>
#     [NAME <test>] [LIMITS <file>] [DURATION <time>] [REPETITIONS <number>] [APPROACH <name>]
#     [TIMEOUT <seconds>] [SIMULATE] [UNDECIDED_FAILS])
#
# The test fails where a limit fails; the JUnit result has a test case for each limit, and one that
# is undecided is skipped. UNDECIDED_FAILS: the test fails for these as well. SIMULATE: in virtual
# time, on any machine. Traces of all repetitions are judged together; they stay in
# <build>/takt_gate/<test>.
#
# NAME: default gate_<app>. LIMITS: default the limits that the application declares. DURATION of
# each repetition: default 10s. REPETITIONS: default 1. APPROACH: of `takt execute`. TIMEOUT: default
# 300. The program is TAKT_PROGRAM; it is searched in PATH and AMENT_PREFIX_PATH.
function(ament_add_takt_gate application)
  cmake_parse_arguments(ARG "SIMULATE;UNDECIDED_FAILS"
    "NAME;LIMITS;DURATION;REPETITIONS;APPROACH;TIMEOUT" "" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ament_add_takt_gate(${application}): unknown argument "
      "'${ARG_UNPARSED_ARGUMENTS}'. Known: NAME LIMITS DURATION REPETITIONS APPROACH TIMEOUT "
      "SIMULATE UNDECIDED_FAILS")
  endif()
  if(ARG_SIMULATE AND ARG_APPROACH)
    message(FATAL_ERROR "ament_add_takt_gate(${application}): a simulation has no APPROACH. Leave "
      "out APPROACH or SIMULATE")
  endif()
  get_filename_component(application "${application}" ABSOLUTE)
  get_filename_component(stem "${application}" NAME_WE)
  _takt_gate_default(ARG_NAME "gate_${stem}")
  _takt_gate_default(ARG_DURATION 10s)
  _takt_gate_default(ARG_REPETITIONS 1)
  _takt_gate_default(ARG_TIMEOUT 300)
  if(NOT ARG_REPETITIONS MATCHES "^[1-9][0-9]*$")
    message(FATAL_ERROR "ament_add_takt_gate(${application}): REPETITIONS ${ARG_REPETITIONS} is "
      "not a number of at least 1. Write REPETITIONS 3")
  endif()
  if(ARG_LIMITS)
    get_filename_component(ARG_LIMITS "${ARG_LIMITS}" ABSOLUTE)
  endif()
  foreach(file IN ITEMS "${application}" ${ARG_LIMITS})
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "ament_add_takt_gate: no such file: ${file}. Give the path from "
        "${CMAKE_CURRENT_SOURCE_DIR}")
    endif()
  endforeach()
  _takt_gate_program()

  find_package(ament_cmake REQUIRED)
  set(result "${AMENT_TEST_RESULTS_DIR}/${PROJECT_NAME}/${ARG_NAME}.xunit.xml")
  ament_add_test(${ARG_NAME}
    COMMAND "${CMAKE_COMMAND}"
      "-DTAKT=${TAKT_PROGRAM}" "-DAPPLICATION=${application}" "-DLIMITS=${ARG_LIMITS}"
      "-DDURATION=${ARG_DURATION}" "-DREPETITIONS=${ARG_REPETITIONS}"
      "-DAPPROACH=${ARG_APPROACH}" "-DSIMULATE=${ARG_SIMULATE}"
      "-DUNDECIDED_FAILS=${ARG_UNDECIDED_FAILS}" "-DRESULT=${result}"
      "-DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/takt_gate/${ARG_NAME}"
      -P "${_takt_gate_script}"
    RESULT_FILE "${result}"
    TIMEOUT ${ARG_TIMEOUT})
  # What other tests execute meanwhile would be a disturbance.
  set_tests_properties(${ARG_NAME} PROPERTIES RUN_SERIAL TRUE)
endfunction()

set(_takt_gate_script "${CMAKE_CURRENT_LIST_DIR}/run_takt_gate.cmake")

macro(_takt_gate_default name value)
  if(NOT ${name})
    set(${name} "${value}")
  endif()
endmacro()

# The tool is on the PATH, in a sourced workspace, or the launcher of the clone whose .takt/install
# this file is in.
macro(_takt_gate_program)
  set(hints "$ENV{AMENT_PREFIX_PATH}")
  string(REPLACE ":" ";" hints "${hints}")
  list(TRANSFORM hints APPEND "/lib/takt")
  get_filename_component(clone "${_takt_gate_script}/../../../../../.." ABSOLUTE)
  find_program(TAKT_PROGRAM takt HINTS ${hints} "${clone}" DOC "The program takt")
  if(NOT TAKT_PROGRAM)
    message(FATAL_ERROR "ament_add_takt_gate: the program takt was not found. Source the workspace "
      "that has the package takt, or set -DTAKT_PROGRAM=<path>")
  endif()
endmacro()
