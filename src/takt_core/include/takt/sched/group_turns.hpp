// SPDX-License-Identifier: Apache-2.0
/// @file
/// The order in which the threads of rclcpp's EventsCBGExecutor take callbacks. Each callback group
/// has a queue of what is ready in it, and groups with something ready are in one queue:
///
/// - A free thread takes the first group out of the queue, and its first callback.
/// - A mutually exclusive group is in the queue only while none of its callbacks runs. At the end
///   of one it comes behind all others, if it has something left.
/// - An expiry of a timer is ready when it is noticed: at the end of that timer's callback at the
///   earliest, if that is ready or runs. A message is ready when it arrives.
///
/// At one time the one with the earlier first callback comes first, then that of the lower number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "takt/sched/job.hpp"
#include "takt/sched/task.hpp"

namespace takt::sched {

/// Since when groups and callbacks are ready. Only construction allocates.
class GroupTurns {
 public:
  /// @param groups by task, the number of its group; 0: none, a group of its own.
  explicit GroupTurns(std::vector<std::uint32_t> groups)
      : groups_(std::move(groups)), ended_(groups_.size(), TimePoint::min()) {
    std::uint32_t last = groups_.empty() ? 0 : std::ranges::max(groups_);
    for (std::uint32_t& group : groups_) {
      group = group == 0 ? ++last : group;
    }
    free_since_.resize(last + 1, TimePoint::min());
    first_.resize(last + 1, nullptr);
  }

  /// A job has ended. `timer`: of a timer.
  void end(TaskIndex task, bool timer, TimePoint time) noexcept {
    free_since_[groups_[task]] = time;
    if (timer) {
      ended_[task] = time;
    }
  }

  /// What a free thread takes of these jobs, of which a task has one at most; null: none.
  /// `may_run`: whether no job of its group runs.
  template <class Jobs, class MayRun>
  const Job* take(const Jobs& pending, MayRun may_run) noexcept {
    std::ranges::fill(first_, nullptr);
    for (const Job& job : pending) {
      const Job*& first = first_[groups_[job.task]];
      if (may_run(job) && (first == nullptr || place(job) < place(*first))) {
        first = &job;
      }
    }
    const auto turn = [this](const Job& job) {
      return std::tuple_cat(std::tuple{std::max(free_since_[groups_[job.task]], noticed(job))},
                            place(job));
    };
    const Job* taken = nullptr;
    for (const Job* const job : first_) {
      if (job != nullptr && (taken == nullptr || turn(*job) < turn(*taken))) {
        taken = job;
      }
    }
    return taken;
  }

 private:
  [[nodiscard]] TimePoint noticed(const Job& job) const noexcept {
    return std::max(job.release, ended_[job.task]);
  }
  [[nodiscard]] std::tuple<TimePoint, TaskIndex> place(const Job& job) const noexcept {
    return {noticed(job), job.task};
  }

  std::vector<std::uint32_t> groups_;  // by task
  std::vector<TimePoint> ended_;       // by task: its last job, of a timer
  std::vector<TimePoint> free_since_;  // by group
  std::vector<const Job*> first_;      // by group, in take()
};

}  // namespace takt::sched
