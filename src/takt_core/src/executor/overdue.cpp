// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/overdue.hpp"

namespace takt::executor {

using trace::EventType;

void tell_miss(const Shared& shared, TaskState& task, const Job& job, os::TimePoint time,
               bool running, trace::Recorder& recorder) noexcept {
  if (task.miss_told.exchange(true)) {
    return;
  }
  task.counters.deadline_misses.add(1);
  recorder.record(EventType::deadline_miss, time, task.trace_id, job.index,
                  job.deadline.time_since_epoch().count());
  if (shared.handlers.deadline_miss) {
    shared.handlers.deadline_miss({.task = task.index,
                                   .job = job.index,
                                   .release = job.release,
                                   .deadline = job.deadline,
                                   .ended = time,
                                   .running = running});
  }
}

void tell_budget_overrun(const Shared& shared, TaskState& task, const Job& job,
                         std::chrono::nanoseconds budget, std::chrono::nanoseconds used,
                         os::TimePoint time, bool running, trace::Recorder& recorder) noexcept {
  if (task.budget_told.exchange(true)) {
    return;
  }
  task.counters.budget_overruns.add(1);
  recorder.record(EventType::budget_overrun, time, task.trace_id, job.index, used.count());
  if (shared.handlers.budget_overrun) {
    shared.handlers.budget_overrun(
        {.task = task.index, .job = job.index, .budget = budget, .used = used, .running = running});
  }
}

}  // namespace takt::executor
