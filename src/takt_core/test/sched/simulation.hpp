// SPDX-License-Identifier: Apache-2.0
//
// One core in virtual time: timers are released, the policy decides, every job takes its expected
// execution time. Preemptive policies run on a stack of started jobs under the stack resource
// policy, the others by Policy::decide(). It uses only what the executor uses to decide.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "takt/sched/compiled.hpp"

namespace takt::sched {

// An uninterrupted piece of a job.
struct Slice {
  Job job;
  TimePoint from;
  TimePoint to;
};

struct Finished {
  Job job;
  TimePoint start;
  TimePoint end;

  [[nodiscard]] bool in_time() const { return end <= job.deadline; }
};

struct Schedule {
  std::vector<Slice> slices;
  std::vector<Finished> finished;  // in the order of their ends
  std::size_t released = 0;

  [[nodiscard]] bool meets_deadlines() const;
  // (task, start, end) of each job: what two schedules are compared by.
  [[nodiscard]] std::vector<std::pair<TaskIndex, std::pair<nanoseconds, nanoseconds>>> summary()
      const;
};

struct SimulationOptions {
  bool use_ceilings = true;  // false: exclusive groups are ignored
};

// Runs all jobs that timers release before `end`, to their ends.
Schedule simulate(const CompiledScenario& scenario, TimePoint end,
                  const SimulationOptions& options = {});

}  // namespace takt::sched
