// SPDX-License-Identifier: Apache-2.0
//
// Which jobs can start next on a core, and when: the edges of the schedule graph.
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

// Any time of [first, last] can be the start.
struct Start {
  std::size_t task = 0;
  TimePoint first;
  TimePoint last;
};

class NextStart {
 public:
  NextStart(const sched::Policy& policy, std::span<const PeriodicTask> tasks);

  // When the core gets free at any time of [earliest, latest]; waiting[i] is the first job of
  // task i that has not started.
  std::span<const Start> find(std::span<const Job> waiting, TimePoint earliest, TimePoint latest);

 private:
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
  std::vector<const Job*> candidates_;  // released until some time, in the policy's order
  std::vector<Start> starts_;
  // The releases after every time of [from_, until_).
  std::vector<Job> next_;
  TimePoint from_ = TimePoint::max();
  TimePoint until_ = TimePoint::min();
};

}  // namespace takt::analysis
