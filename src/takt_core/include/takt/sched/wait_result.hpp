// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the last wait of rclcpp's MultiThreadedExecutor has found ready. One thread at a time takes
/// the next callback from it, and waits again only when it finds none that it may take:
///
/// - A timer of a group of which a callback runs stays in the result, a subscription leaves it: the
///   message is found again by a later wait.
/// - The end of a callback of a group ends the wait of the thread that waits, and the wait set is
///   built again before the next one. It is built without the groups that run at that moment, so
///   what becomes ready in these is found only after it has been built once more.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "takt/sched/task.hpp"

namespace takt::sched {

/// The result of the last wait, and the groups in the wait set. Only construction allocates.
class WaitResult {
 public:
  /// @param tasks the largest index of a task, plus 1.
  /// @param groups the largest number of a group, plus 1.
  WaitResult(std::size_t tasks, std::size_t groups)
      : found_(tasks, false), left_out_(groups, false) {}

  /// A callback of a group has ended: the wait that is under way, or the next one, ends at once.
  void ring() noexcept { rung_ = true; }

  /// Begins a wait. `runs`: whether a callback of the group runs, by its number.
  template <class Runs>
  void begin_wait(Runs runs) noexcept {
    if (std::exchange(to_build_, false)) {
      for (std::uint32_t group = 1; group < left_out_.size(); ++group) {
        left_out_[group] = runs(group);
      }
    }
  }

  /// Whether the wait has found the task ready: only if its group is in the wait set.
  void find(TaskIndex task, std::uint32_t group, bool ready) noexcept {
    found_[task] = ready && !left_out_[group];
  }

  /// Ends a wait.
  /// @return whether a callback's end has ended it.
  bool end_wait() noexcept {
    to_build_ = to_build_ || rung_;
    return std::exchange(rung_, false);
  }

  /// Whether the task is in the result.
  [[nodiscard]] bool has(TaskIndex task) const noexcept { return found_[task]; }

  /// It has been taken, or leaves the result.
  void remove(TaskIndex task) noexcept { found_[task] = false; }

 private:
  std::vector<bool> found_;     // by task
  std::vector<bool> left_out_;  // by group; 0: of tasks without one, never left out
  bool rung_ = false;
  bool to_build_ = false;
};

}  // namespace takt::sched
