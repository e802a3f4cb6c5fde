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

namespace takt::sched {

inline constexpr Level no_ceiling = std::numeric_limits<Level>::min();
inline constexpr Level infinite_ceiling = std::numeric_limits<Level>::max();

// Levels and ceilings of all tasks of a scenario; does not change after construction.
class Ceilings {
 public:
  // All members of a group must be in `tasks`; inactive ones count, they may be activated.
  Ceilings(std::span<const Task> tasks, const Policy& policy);

  // Whether the policy knows levels. Without them every task has the level 0.
  [[nodiscard]] bool has_levels() const noexcept { return has_levels_; }
  [[nodiscard]] Level level(TaskIndex task) const noexcept { return tasks_[task].level; }

  // Of the task's group; no_ceiling without a group.
  [[nodiscard]] Level ceiling(TaskIndex task) const noexcept { return tasks_[task].ceiling; }

  // Whether a job of `a`, released while a job of `b` runs, can ever preempt it, groups included.
  [[nodiscard]] bool could_preempt(TaskIndex a, TaskIndex b) const noexcept;

  // The most jobs of these tasks that can be started at once. After a change of the scenario, jobs
  // that started before it may take these places; then a job waits for the end of one of them.
  [[nodiscard]] std::size_t depth(std::span<const TaskIndex> tasks) const;

 private:
  struct Entry {
    Level level;
    Level ceiling;
  };
  std::vector<Entry> tasks_;
  bool has_levels_ = true;
};

// The stack of the jobs that have started on one core and not ended, as their ceilings.
class SystemCeiling {
 public:
  // `depth`: the most jobs that can be started at once, see Ceilings::depth(). `ceilings` must
  // outlive this object, or its replacement by set_ceilings().
  SystemCeiling(const Ceilings& ceilings, std::size_t depth);

  // The test of the stack resource policy. A job that passes is never blocked once it has started.
  [[nodiscard]] bool may_start(const Job& job) const noexcept {
    return ceiling() == no_ceiling || ceilings_->level(job.task) > ceiling();
  }

  // A job has started above all others, or the job that started last has ended. False, and nothing
  // changes, when the stack is full (empty).
  bool push(const Job& job) noexcept;
  bool pop() noexcept;

  // Changes to the ceilings of another scenario. Levels of two scenarios cannot be compared, so
  // groups that are held keep everything out until their jobs have ended; unless levels are
  // priorities in both (`comparable`).
  void set_ceilings(const Ceilings& ceilings, bool comparable = false) noexcept;

  [[nodiscard]] Level ceiling() const noexcept {
    return started_.empty() ? no_ceiling : started_.back();
  }
  [[nodiscard]] std::size_t size() const noexcept { return started_.size(); }

 private:
  const Ceilings* ceilings_;
  std::vector<Level> started_;  // the system ceiling after each start, so it rises from the bottom
  std::size_t depth_;
};

}  // namespace takt::sched
