// SPDX-License-Identifier: Apache-2.0
/// @file
/// The real-time priorities (SCHED_FIFO) that the threads of a robot's processes use. An executor
/// needs several of them: one for each job that may have preempted others, and one above these for
/// the thread that hears of what arrives. A process is above another one on its core only if all of
/// its priorities are.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "takt/application/application.hpp"
#include "takt/visibility.hpp"

namespace takt::application {

/// The priorities of one process.
struct TAKT_CORE_PUBLIC Band {
  int least = 0;  ///< Process::priority; 0: its threads have none.
  /// Of the thread that waits for what arrives, on the first core; rclcpp's executors: `least`.
  int most = 0;
  /// By callback of the application: the priority of its jobs, in the order that the policy gives
  /// them; 0 for callbacks of other processes, and where the policy decides anew for each job.
  std::vector<int> priorities = {};
  /// The same in each scenario of the strategy; empty: there is none, or the policy decides anew.
  std::vector<std::vector<int>> in_scenarios = {};
};

/// The scenarios of a robot as the executor of one process follows them, with the priorities of its
/// band; nothing: it follows none.
TAKT_CORE_PUBLIC std::optional<sched::SchedulingStrategy> scenarios_of_process(
    const Application& robot, std::size_t process, const Band& band);

/// The band of each process of a robot.
/// @param robot an application with processes.
/// @return a band for each of Application::processes, in their order.
/// @throws sched::ScheduleError for an application that compile() refuses, and for processes of one
/// core that are too close to each other or to the highest priority.
TAKT_CORE_PUBLIC std::vector<Band> bands_of(const Application& robot);

}  // namespace takt::application
