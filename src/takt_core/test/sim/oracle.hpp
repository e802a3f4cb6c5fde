// SPDX-License-Identifier: Apache-2.0
//
// One core, millisecond by millisecond, written straight from the rules and sharing nothing with
// the simulator: fixed priority or EDF, preemptive under the stack resource policy or not, timers
// whose releases are dropped while their job runs.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "sim/schedule.hpp"

namespace takt::sim {

struct Rules {
  bool edf = false;
  bool preemptive = true;
};

class Oracle {
 public:
  Oracle(const std::vector<Task>& tasks, Rules rules) : tasks_(tasks), rules_(rules) {
    for (const Task& task : tasks) next_.push_back(task.parameters.offset / 1ms);
    pending_.resize(tasks.size());
  }

  Schedule::Summary run(int until) {
    for (now_ = 0;; ++now_) {
      end();
      if (now_ == until) return ended_;
      release();
      choose();
      if (!stack_.empty()) --stack_.back().left;
    }
  }

 private:
  struct Job {
    TaskIndex task = 0;
    std::int64_t release = 0;
    std::int64_t start = 0;
    std::int64_t left = 0;
  };

  const sched::TaskParameters& parameters(TaskIndex task) const { return tasks_[task].parameters; }
  std::int64_t deadline(TaskIndex task) const {
    return sched::relative_deadline(parameters(task)) / 1ms;
  }

  void end() {
    if (stack_.empty() || stack_.back().left > 0) return;
    const Job job = stack_.back();
    stack_.pop_back();
    ended_.push_back({job.task, {job.start * 1ms, now_ * 1ms}});
    pending_[job.task].reset();
    while (next_[job.task] < now_) next_[job.task] += parameters(job.task).period / 1ms;
  }

  void release() {
    for (TaskIndex task = 0; task < tasks_.size(); ++task) {
      if (!pending_[task] && next_[task] <= now_) {
        pending_[task] = Job{.task = task,
                             .release = next_[task],
                             .left = parameters(task).expected_execution / 1ms};
        waiting_.push_back(*pending_[task]);
        next_[task] += parameters(task).period / 1ms;
      }
    }
  }

  // What the policy orders by; smaller is better.
  std::int64_t urgency(const Job& job) const {
    return rules_.edf ? job.release + deadline(job.task) : -parameters(job.task).priority;
  }
  std::int64_t level(TaskIndex task) const {
    return rules_.edf ? -deadline(task) : parameters(task).priority;
  }

  bool blocked(TaskIndex task) const {
    return std::ranges::any_of(stack_, [&](const Job& held) {
      const std::string& group = tasks_[held.task].group;
      if (group.empty()) return false;
      for (TaskIndex member = 0; member < tasks_.size(); ++member) {
        if (tasks_[member].group == group && level(member) >= level(task)) return true;
      }
      return false;
    });
  }

  void choose() {
    if (waiting_.empty()) return;
    const auto best = std::ranges::min_element(waiting_, {}, [&](const Job& job) {
      return std::tuple{urgency(job), job.release, job.task};
    });
    if (!stack_.empty()) {
      const Job& running = stack_.back();
      const auto key = [&](const Job& job) {
        return rules_.edf ? std::tuple{urgency(job), job.release, job.task}
                          : std::tuple{urgency(job), std::int64_t{0}, TaskIndex{0}};
      };
      if (!rules_.preemptive || key(*best) >= key(running) || blocked(best->task)) return;
    }
    stack_.push_back(*best);
    stack_.back().start = now_;
    waiting_.erase(best);
  }

  std::vector<Task> tasks_;
  Rules rules_;
  std::int64_t now_ = 0;
  std::vector<std::int64_t> next_;
  std::vector<std::optional<Job>> pending_;  // by task: released and not ended
  std::vector<Job> waiting_;                 // not started
  std::vector<Job> stack_;                   // started
  Schedule::Summary ended_;
};

}  // namespace takt::sim
