// SPDX-License-Identifier: Apache-2.0
//
// What the examples of scheduling have in common: something to do, and where to write a trace.
#pragma once

#include <chrono>
#include <filesystem>
#include <takt/os/clock.hpp>
#include <takt/rcl/context.hpp>

// Keeps the core busy, as a computation would.
inline void compute_for(std::chrono::nanoseconds time) {
  const auto end = takt::os::now() + time;
  while (takt::os::now() < end) {
  }
}

// The first argument of the program: where the trace goes. Empty: no trace.
inline std::filesystem::path trace_argument(const takt::Context& context) {
  const auto& arguments = context.get_non_ros_arguments();
  return arguments.size() > 1 ? arguments[1] : "";
}
