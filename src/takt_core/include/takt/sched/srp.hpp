// SPDX-License-Identifier: Apache-2.0
/// @file
/// The stack resource policy (Baker 1991) for exclusive groups on one core. A group is a resource
/// that a job holds from its start to its end. The ceiling of a group is the highest preemption
/// level of its members; the system ceiling is the highest ceiling of the groups that started jobs
/// hold. A job starts only if its level is above the system ceiling. Hence two jobs of a group
/// never overlap, there is no deadlock, and a job is blocked by at most one less urgent job, and
/// only before it starts.
///
/// Fixed priority: level = priority, so a ceiling is a priority, and holding a group means running
/// at the ceiling (immediate priority ceiling). EDF: level = minus the relative deadline. Policies
/// without levels (a comparator without a level function): any task may come before any other, so
/// only an infinite ceiling is safe, and jobs of groups are not preempted at all.
///
/// A callback that another task may run in its place (fresh data delivered before a timer) belongs
/// in the group of that task; the code that builds the task set must ensure that.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "takt/sched/policy.hpp"
#include "takt/sched/task_set.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

/// Below every level: no group.
inline constexpr Level no_ceiling = std::numeric_limits<Level>::min();

/// Above every level: not preempted.
inline constexpr Level infinite_ceiling = std::numeric_limits<Level>::max();

/// Levels and ceilings of all tasks of a scenario. Immutable.
class TAKT_CORE_PUBLIC Ceilings {
 public:
  /// Computes them. All members of a group must be in `tasks`; inactive ones count, because they
  /// may become active.
  /// @param ages limits on the age of data, for which sources are released early.
  Ceilings(std::span<const Task> tasks, const Policy& policy,
           std::span<const AgeConstraint> ages = {});

  /// Whether the policy has levels. Without them every task has the level 0.
  [[nodiscard]] bool has_levels() const noexcept { return has_levels_; }

  /// The preemption level of a task.
  [[nodiscard]] Level level(TaskIndex task) const noexcept { return tasks_[task].level; }

  /// The level of its jobs while they are boosted to keep the age of data
  /// (TaskParameters::boosted_priority); else the same as level().
  [[nodiscard]] Level boosted_level(TaskIndex task) const noexcept { return tasks_[task].boosted; }

  /// The ceiling of the task's group; no_ceiling without a group.
  [[nodiscard]] Level ceiling(TaskIndex task) const noexcept { return tasks_[task].ceiling; }

  /// Whether a job of `a`, released while a job of `b` runs, can ever preempt it, groups included.
  [[nodiscard]] bool could_preempt(TaskIndex a, TaskIndex b) const noexcept;

  /// Whether its jobs may be due earlier than its level says: it is released early, for a reader
  /// whose release is the deadline. Not under fixed priorities.
  [[nodiscard]] bool may_be_early(TaskIndex task) const noexcept { return tasks_[task].early; }

  /// The most jobs of these tasks that can be started at the same time: one for each level, plus
  /// each job that is noticed late, because it may preempt its own level, or that may be boosted or
  /// released early out of it. After a switch of the scenario, jobs that started before it may
  /// occupy these places; then a job waits for the end of one of them.
  [[nodiscard]] std::size_t depth(std::span<const TaskIndex> tasks) const;

 private:
  struct Entry {
    Level level;
    Level boosted;
    Level ceiling;
    bool late;  // its releases may be noticed late
    bool early;
  };
  std::vector<Entry> tasks_;
  bool has_levels_ = true;
};

}  // namespace takt::sched
