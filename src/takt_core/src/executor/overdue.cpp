// SPDX-License-Identifier: Apache-2.0
#include "overdue.hpp"

namespace takt::executor {

using trace::EventType;

Overdue take_overdue(const Handlers& handlers, TaskState& task, const Job& job,
                     std::chrono::nanoseconds budget, const Sighting& sighting,
                     trace::Recorder& recorder) noexcept {
  Overdue overdue;
  if (sighting.time > job.deadline && !task.miss_reported) {
    task.miss_reported = true;
    task.counters.deadline_misses.add(1);
    recorder.record(EventType::deadline_miss, sighting.time, task.trace_id, job.index,
                    job.deadline.time_since_epoch().count());
    if (handlers.deadline_miss) {
      overdue.miss = Miss{.task = task.index,
                          .job = job.index,
                          .release = job.release,
                          .deadline = job.deadline,
                          .ended = sighting.time,
                          .running = sighting.running};
    }
  }
  if (budget.count() > 0 && sighting.used > budget && !task.budget_reported) {
    task.budget_reported = true;
    task.counters.budget_overruns.add(1);
    recorder.record(EventType::budget_overrun, sighting.time, task.trace_id, job.index,
                    sighting.used.count());
    if (handlers.budget_overrun) {
      overdue.budget_overrun = BudgetOverrun{.task = task.index,
                                             .job = job.index,
                                             .budget = budget,
                                             .used = sighting.used,
                                             .running = sighting.running};
    }
  }
  return overdue;
}

void notify(const Handlers& handlers, const Overdue& overdue) noexcept {
  if (overdue.miss) {
    handlers.deadline_miss(*overdue.miss);
  }
  if (overdue.budget_overrun) {
    handlers.budget_overrun(*overdue.budget_overrun);
  }
}

}  // namespace takt::executor
