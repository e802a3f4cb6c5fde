// SPDX-License-Identifier: Apache-2.0
//
// All schedules that timers on one core can lead to under a policy that is not preemptive, work-
// conserving or not, with release jitter and execution times that vary: the schedule-abstraction
// graph of M. Nasri, B. Brandenburg, "An exact and sustainable analysis of non-preemptive
// scheduling", RTSS 2017.
//
// A vertex says which jobs have started, and the interval of times at which the core can be free
// again. An edge is a job that can start next. Vertices with the same jobs are merged where their
// intervals meet, which loses nothing: every time in an interval can happen.
//
// Where this goes past the paper:
//  - The policy object itself is asked (Policy::latest_start), with the releases that the executor
//    would show it. Hence a job may be kept back, let go after a release, and kept back again; and
//    a job that is released, but not noticed yet, protects itself no longer.
//  - Jobs are released for ever: the graph ends when, a hyperperiod later, nothing is new.
//  - A job may be released by the end of another one, by a message: whoever gets the core next
//    finds it waiting, and the vertex knows for how long it has waited at most. Where it is due, if
//    the policy asks for that, lies in an interval: who may come first, does in one of the edges.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "takt/analysis/demand.hpp"
#include "takt/sched/policy.hpp"
#include "takt/visibility.hpp"

namespace takt::analysis {

// Job k is released at first.release + k * first.period, and noticed up to `lag` later.
//
// Or, where there is a writer, when job k of that one ends: then first.period is 0, first.deadline
// counts from first.release, `lag` is 0, and the policy is work-conserving and goes by deadlines,
// or by priorities, of which no other task has this one.
struct PeriodicTask {
  sched::Job first = {};  // its deadline is not above its period
  nanoseconds lag{0};
  nanoseconds best{1};   // execution time, above 0
  nanoseconds worst{1};  // not below first.expected_execution
  std::optional<std::size_t> writer = {};
  std::size_t depth = 1;  // messages that may wait: no graph where more would
};

struct GraphOptions {
  nanoseconds release_overhead{0};        // taken from whatever starts next after a release
  bool witness = false;                   // remember how a missed deadline comes about
  std::size_t most_vertices = 1'000'000;  // some seconds; 100 MB with the witness
};

// A job of a schedule.
struct PlacedJob {
  std::size_t task = 0;
  std::uint64_t index = 0;
  nanoseconds release{0};
  nanoseconds start{0};  // of one that is late: not before
  nanoseconds execution{0};
};

struct ScheduleGraph {
  enum class Outcome : std::uint8_t { met, missed, unknown };
  Outcome outcome = Outcome::unknown;
  // False: some edges may be impossible. An outcome `met` holds all the same, and responses are
  // bounds; `missed` may be wrong. True without messages, lags and release overhead, and for all
  // work-conserving policies with lags.
  bool exact = false;
  std::vector<nanoseconds> responses = {};  // met: the longest of each task
  std::vector<PlacedJob> witness = {};      // missed: the run up to the job that misses, the last
  std::string reason = {};                  // unknown: why
  std::size_t vertices = 0;
};

TAKT_CORE_PUBLIC ScheduleGraph explore(const sched::Policy& policy,
                                       std::span<const PeriodicTask> tasks,
                                       const GraphOptions& options = {});

}  // namespace takt::analysis
