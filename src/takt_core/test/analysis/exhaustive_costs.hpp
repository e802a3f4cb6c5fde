// SPDX-License-Identifier: Apache-2.0
//
// What jobs pay at most besides what they compute.
#pragma once

#include <algorithm>

#include "analysis/exhaustive_situation.hpp"

namespace takt::analysis {

class Charges {
 public:
  explicit Charges(const Tasks& tasks) : tasks_(tasks), costs_(tasks.options().costs) {}

  // Whether it matters who had the core before.
  [[nodiscard]] bool remember() const { return costs_.release > 0 || costs_.preemption > 0; }

  void notice(Situation& now) const {
    now.debt = static_cast<std::uint8_t>(now.debt + costs_.release);
  }
  // The task starts a job that has been given so many messages.
  void start(TaskNow& now, std::size_t task, std::int64_t messages) const {
    const bool released = !tasks_.is_timer(task) && tasks_[task].trigger.depth == 0;
    charge(now, costs_.dispatch + costs_.publish * topics(task) +
                    costs_.deliver * (messages + (released ? 1 : 0)));
  }
  // It gets the core, whoever had it before.
  void run(Situation& now, std::size_t task) const {
    const std::uint8_t before = now.had_core;
    if (before != nobody_runs && before != task && now.tasks[before].suspended == 0) {
      charge(now.tasks[before], costs_.preemption);
    }
    charge(now.tasks[task], now.debt);
    now.debt = 0;
    now.had_core = remember() ? static_cast<std::uint8_t>(task) : nobody_runs;
  }

 private:
  static void charge(TaskNow& task, std::int64_t time) {
    task.extra = static_cast<std::uint8_t>(task.extra + time);
  }

  // Messages that a job of the task publishes: of one topic for each input of another one.
  [[nodiscard]] std::int64_t topics(std::size_t task) const {
    std::int64_t count = 0;
    const auto add = [&](const Input& input) {
      count += std::ranges::find(input.writers, task) == input.writers.end() ? 0 : 1;
    };
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      add(tasks_[i].trigger);
      std::ranges::for_each(tasks_[i].reads, add);
    }
    return count * tasks_[task].messages;
  }

  const Tasks& tasks_;
  const Costs& costs_;
};

}  // namespace takt::analysis
