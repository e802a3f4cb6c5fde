// SPDX-License-Identifier: Apache-2.0
/// @file
/// Assigns tasks to cores. Tasks never migrate, so every core is scheduled and analysed on its own.
#pragma once

#include <span>
#include <vector>

#include "takt/sched/task.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

/// The largest share of a core that a task needs, expected execution time divided by period; 0 if
/// either is unknown.
TAKT_CORE_PUBLIC double utilization(const TaskParameters& parameters) noexcept;

/// A core with its tasks.
struct Core {
  int cpu = 0;                   ///< Number of the CPU.
  double utilization = 0;        ///< Sum over its tasks; above 1 the declared times do not fit.
  std::vector<TaskIndex> tasks;  ///< Ascending.
};

/// Places tasks by worst-fit decreasing: the heaviest task (or exclusive group, which stays
/// together) goes to the least loaded core, which also leaves every core the most room for
/// undeclared work. Lanes of one callback (Task::lane_of) go to different cores as long as there
/// are any. A core that a task requests (Task::cpu) is kept. Ties are resolved by fewer
/// tasks, not counting removed ones, then by the order of `cpus`.
/// @param tasks the tasks.
/// @param utilizations the utilization of each task.
/// @param cpus the cores to use.
/// @throws ScheduleError if `cpus` is empty, contains a negative number or a core twice, if a task
/// requests a core that is not in it, and if members of a group request different cores.
TAKT_CORE_PUBLIC std::vector<Core> place(std::span<const Task> tasks,
                                         std::span<const double> utilizations,
                                         std::span<const int> cpus);

}  // namespace takt::sched
