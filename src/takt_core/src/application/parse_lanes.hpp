// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "takt/application/application.hpp"

namespace takt::application {

// Puts the lanes of each callback in its place, as many as its jobs may run at once, by callback.
// Under rclcpp's MultiThreadedExecutor it stays one callback, which is reentrant.
// Throws sched::ScheduleError for callbacks whose jobs cannot.
void add_lanes(Application& application, const std::vector<std::size_t>& at_once);

}  // namespace takt::application
