// SPDX-License-Identifier: Apache-2.0
//
// Processes whose executor has several threads, each on a core of its own. Under Takt jobs do not
// migrate, so analysis and simulation see one process for each core, and what they hand to each
// other is a message between processes that takes no time. The threads of an executor of rclcpp
// take from what is ready for all of them: it stays one process.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "takt/application/application.hpp"

namespace takt::application {

// The application with such processes apart. The first core that has callbacks keeps the place and
// the name of its process; the others follow all processes. Callbacks are placed as an executor
// places its tasks; those of a join, and those that a maximum age ties, stay on one core.
// Throws sched::ScheduleError for what has no executor with several threads.
Application with_cores(Application application);

// The cores of its executor.
std::vector<int> cores_of(const Process& process);

// How many threads its executor has.
std::size_t threads_of(const Application& application, const Callback& callback);

// Whether its one thread may run on each of several cores: one with a reservation, or an executor
// of rclcpp with one thread. It stays one process, which stands on one of them: `cpu`.
bool roams(const Process& process);

// The cores on which it stands, one for each thread of its executor.
std::vector<int> places_of(const Process& process);

// Of reservations that may run on the same cores each stands on a core of its own, as long as there
// are so many.
void place_reservations(std::vector<Process>& processes);

// The process that a core or a thread belongs to, by name; else the own one.
const std::string& family_of(const Process& process);

}  // namespace takt::application
