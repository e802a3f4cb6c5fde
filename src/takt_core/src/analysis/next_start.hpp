// SPDX-License-Identifier: Apache-2.0
//
// The edges of the schedule graph: which jobs can start next on a core, and when.
#pragma once

#include <span>
#include <vector>

#include "takt/analysis/schedule_graph.hpp"

namespace takt::analysis {

using sched::Job;
using sched::TimePoint;

inline TimePoint at(nanoseconds time) noexcept {
  return TimePoint{time};
}

// The job may start at any time of [first, last].
struct Start {
  std::size_t task = 0;
  TimePoint first;
  TimePoint last;
};

// How long the first message for a task has waited when the core becomes free.
struct Waited {
  bool there = false;
  nanoseconds least{0};
  nanoseconds most{0};
};

class NextStart {
 public:
  NextStart(const sched::Policy& policy, std::span<const PeriodicTask> tasks);

  // The core becomes free at any time of [earliest, latest]; waiting[i] is the first job of task i
  // that has not started.
  std::span<const Start> find(std::span<const Job> waiting, TimePoint earliest, TimePoint latest);
  // The same with waiting messages (by task, at least one) under a policy with deadlines: the
  // messages' own deadlines are intervals.
  std::span<const Start> find(std::span<const Job> waiting, std::span<const Waited> messages,
                              TimePoint earliest, TimePoint latest);

 private:
  [[nodiscard]] nanoseconds allowed(const Job& message) const noexcept {
    return tasks_[message.task].first.deadline - tasks_[message.task].first.release;
  }
  void keep_behind(const Job& other, const Waited& message, Start& start) const;
  void keep_message_behind(const Job& other, const Waited& message, const Waited& own,
                           Start& start) const;
  [[nodiscard]] TimePoint noticed(const Job& job) const noexcept {
    return job.release + tasks_[job.task].lag;
  }
  [[nodiscard]] bool may_start(const Job& job, TimePoint time);
  void look_ahead(TimePoint time);
  void collect(std::span<const Job> waiting, TimePoint until);
  TimePoint last_start(std::span<const Job> waiting, TimePoint latest);
  void add(const Job& job, TimePoint from, TimePoint until);

  const sched::Policy& policy_;
  std::span<const PeriodicTask> tasks_;
  std::span<const Job> waiting_;
  std::vector<const Job*> candidates_;  // released until some time, in the policy's order
  std::vector<Start> starts_;
  // The releases after every time of [from_, until_).
  std::vector<Job> next_;
  TimePoint from_ = TimePoint::max();
  TimePoint until_ = TimePoint::min();
};

}  // namespace takt::analysis
