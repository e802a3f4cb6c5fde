// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <takt/application/application.hpp>
#include <takt/os/clock.hpp>
#include <takt/os/stop.hpp>
#include <takt/rcl/scheduling_executor.hpp>

namespace takt::runner {

// Switches the scenarios at their times, above all tasks; returns at `end`, or when a stop is
// requested.
void follow(SchedulingExecutor& executor, const application::Application& application,
            os::TimePoint start, os::TimePoint end, const os::StopFlag& stop);

}  // namespace takt::runner
