// SPDX-License-Identifier: Apache-2.0
//
// Which task runs on which core. Tasks never migrate, so every core is a problem of its own.
#pragma once

#include <span>
#include <vector>

#include "takt/sched/task.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

// The share of a core that a task needs at most: expected execution by period; 0 where unknown.
TAKT_CORE_PUBLIC double utilization(const TaskParameters& parameters) noexcept;

struct Core {
  int cpu = 0;
  double utilization = 0;        // above 1: the declared times do not fit
  std::vector<TaskIndex> tasks;  // ascending
};

// Worst-fit decreasing: the heaviest task (or exclusive group, which stays together) goes to the
// least loaded core, which also leaves each core the most room for what was not declared. Cores
// that tasks ask for themselves (Task::cpu) are kept. `utilizations` holds a utilization for each
// task. Ties: fewer tasks, those that have gone not counted, then the order of `cpus`. Throws
// ScheduleError when `cpus` is empty, negative or names a core twice, when a task asks for a core
// that is not among them, and when the members of a group ask for different cores.
TAKT_CORE_PUBLIC std::vector<Core> place(std::span<const Task> tasks,
                                         std::span<const double> utilizations,
                                         std::span<const int> cpus);

}  // namespace takt::sched
