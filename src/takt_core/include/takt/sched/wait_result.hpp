// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the last wait of rclcpp's MultiThreadedExecutor has found ready. One thread at a time takes
/// the next callback from it, and waits again only when it finds none that it may take:
///
/// - A timer of a group of which a callback runs stays in the result, a subscription leaves it: the
///   message is found again by a later wait.
/// - The end of a callback of a group ends the wait of the thread that waits, and the wait set is
///   built again before the next one. It is built without the groups that run at that moment, so
///   what becomes ready in these is found only after it has been built once more. They are then
///   behind all others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "takt/sched/task.hpp"

namespace takt::sched {

/// The result of the last wait, and the groups in the wait set. Only construction allocates.
class WaitResult {
 public:
  /// @param groups by task, the number of its group; 0: none, it is never left out.
  explicit WaitResult(std::vector<std::uint32_t> groups)
      : groups_(std::move(groups)),
        found_(groups_.size(), false),
        left_out_(groups_.empty() ? 1 : std::ranges::max(groups_) + 1, false),
        order_(groups_.size()) {
    std::iota(order_.begin(), order_.end(), TaskIndex{0});
    added_.reserve(order_.size());
  }

  /// A callback of a group has ended: the wait that is under way, or the next one, ends at once.
  void ring() noexcept { rung_ = true; }

  /// Begins a wait. `runs`: whether a callback of the group runs, by its number. What is added to
  /// the wait set comes behind all that has stayed in it, in the order of the tasks.
  template <class Runs>
  void begin_wait(Runs runs) noexcept {
    if (!std::exchange(to_build_, false)) {
      return;
    }
    added_.clear();
    auto kept = order_.begin();
    for (const TaskIndex task : order_) {
      const std::uint32_t group = groups_[task];
      if (left_out_[group] && !runs(group)) {
        added_.push_back(task);
      } else {
        *kept++ = task;
      }
    }
    std::ranges::sort(added_);
    std::ranges::copy(added_, kept);
    for (std::uint32_t group = 1; group < left_out_.size(); ++group) {
      left_out_[group] = runs(group);
    }
  }

  /// Whether the wait has found the task ready: only if its group is in the wait set.
  void find(TaskIndex task, bool ready) noexcept {
    found_[task] = ready && !left_out_[groups_[task]];
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

  /// All tasks, as the wait set has them.
  [[nodiscard]] std::span<const TaskIndex> order() const noexcept { return order_; }

 private:
  std::vector<std::uint32_t> groups_;  // by task
  std::vector<bool> found_;            // by task
  std::vector<bool> left_out_;         // by group
  std::vector<TaskIndex> order_;
  std::vector<TaskIndex> added_;
  bool rung_ = false;
  bool to_build_ = false;
};

}  // namespace takt::sched
