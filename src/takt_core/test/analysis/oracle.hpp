// SPDX-License-Identifier: Apache-2.0
//
// What happens, tick by tick: a scheduler that looks at all jobs at every tick and knows nothing of
// queues, levels or tests. It shares no code with the library.
#pragma once

#include <cstdint>
#include <vector>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

enum class Rule : std::uint8_t { fp, np_fp, edf, np_edf, p_rm, cw_edf };

struct OracleTask {
  std::int64_t execution = 1;
  std::int64_t period = 1;
  std::int64_t deadline = 1;
  int priority = 1;
  int group = 0;  // 0: none
  // Of the rules that are not preemptive, where all runs are looked at:
  std::int64_t best = 0;  // shortest execution; 0: all are as long
  std::int64_t offset = 0;
  std::int64_t lag = 0;  // a release is noticed up to so much later
};

// One job of a task: the core notices it at `noticed`, which is not before its release.
struct OracleJob {
  std::size_t task = 0;
  std::int64_t release = 0;
  std::int64_t noticed = 0;
};

struct Observed {
  std::vector<std::int64_t> responses;  // the longest of each task, from the release
  bool missed = false;
};

// Runs all jobs to their ends. Those of one task must be in the order of their releases.
Observed observe(Rule rule, const std::vector<OracleTask>& tasks,
                 const std::vector<OracleJob>& jobs);

// Periodic jobs from `offset` on, before `end`.
void add_periodic(std::vector<OracleJob>& jobs, const std::vector<OracleTask>& tasks,
                  std::size_t task, std::int64_t offset, std::int64_t end);

// The same tasks for the library; one tick is one nanosecond.
std::vector<Demand> demands_of(Rule rule, const std::vector<OracleTask>& tasks);

std::int64_t hyperperiod(const std::vector<OracleTask>& tasks);
double utilization(const std::vector<OracleTask>& tasks);

}  // namespace takt::analysis
