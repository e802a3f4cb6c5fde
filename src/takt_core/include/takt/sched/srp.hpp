// SPDX-License-Identifier: Apache-2.0
//
// The stack resource policy (Baker 1991) for exclusive groups on one core. A group is a resource
// that a job holds from its start to its end. Its ceiling is the highest preemption level of its
// members; the system ceiling is the highest ceiling of the groups that started jobs hold. A job
// starts only if its level is above the system ceiling. Hence no two jobs of a group ever overlap,
// nothing deadlocks, and a job waits for at most one job that comes after it, and only before it
// starts: once started it never blocks.
//
// Fixed priority: level = priority, so a ceiling is a priority and holding a group means to run at
// the ceiling (immediate priority ceiling). EDF: level = minus the relative deadline. A policy
// without levels (a custom comparator without a level function): any task may come before any
// other, so only an infinite ceiling is safe, and jobs of groups are not preempted at all.
//
// A callback that another task may run in its place (fresh data delivered before a timer) belongs
// into the group of that task; who builds the task set sees to that.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "takt/sched/policy.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

inline constexpr Level no_ceiling = std::numeric_limits<Level>::min();
inline constexpr Level infinite_ceiling = std::numeric_limits<Level>::max();

// Levels and ceilings of all tasks of a scenario; does not change after construction.
class TAKT_CORE_PUBLIC Ceilings {
 public:
  // All members of a group must be in `tasks`; inactive ones count, they may be activated.
  Ceilings(std::span<const Task> tasks, const Policy& policy);

  // Whether the policy knows levels. Without them every task has the level 0.
  [[nodiscard]] bool has_levels() const noexcept { return has_levels_; }
  [[nodiscard]] Level level(TaskIndex task) const noexcept { return tasks_[task].level; }
  // Of a job that keeps the age of data (TaskParameters::boosted_priority); else the same.
  [[nodiscard]] Level boosted_level(TaskIndex task) const noexcept { return tasks_[task].boosted; }

  // Of the task's group; no_ceiling without a group.
  [[nodiscard]] Level ceiling(TaskIndex task) const noexcept { return tasks_[task].ceiling; }

  // Whether a job of `a`, released while a job of `b` runs, can ever preempt it, groups included.
  [[nodiscard]] bool could_preempt(TaskIndex a, TaskIndex b) const noexcept;

  // The most jobs of these tasks that can be started at once: one of each level, and every one that
  // is noticed late, which may preempt its own level, or may be boosted out of it. After a change
  // of the scenario, jobs that started before it may take these places; then a job waits for the
  // end of one of them.
  [[nodiscard]] std::size_t depth(std::span<const TaskIndex> tasks) const;

 private:
  struct Entry {
    Level level;
    Level boosted;
    Level ceiling;
    bool late;  // its releases may be noticed late
  };
  std::vector<Entry> tasks_;
  bool has_levels_ = true;
};

}  // namespace takt::sched
