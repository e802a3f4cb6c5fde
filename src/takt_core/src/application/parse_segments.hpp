// SPDX-License-Identifier: Apache-2.0
//
// The segments of a callback's jobs, and what an application must not say of them.
#pragma once

#include "object.hpp"
#include "takt/application/application.hpp"

namespace takt::application {

// After the execution time, the suspension and the number of suspensions of the callback.
void parse_segments(Object& object, Callback& callback);

// Throws sched::ScheduleError where something else changes what the segments fix.
void check_segments(const Application& application);

}  // namespace takt::application
