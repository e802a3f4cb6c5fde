// SPDX-License-Identifier: Apache-2.0
/// @file
/// All schedules of timers on one core under a non-preemptive policy, work-conserving or not, with
/// release jitter and varying execution times: the schedule-abstraction graph of M. Nasri, B.
/// Brandenburg, "An exact and sustainable analysis of non-preemptive scheduling", RTSS 2017.
///
/// A vertex represents a set of started jobs, with the interval of times at which the core can
/// become free. An edge is a job that can start next. Vertices with the same jobs are merged if
/// their intervals meet, which loses nothing, because every time in an interval can occur.
///
/// Extensions of the paper:
///
/// - The policy object itself decides (Policy::latest_start), with the releases that the executor
///   would pass to it. Hence a job may be held back, permitted after a release, and held back
///   again; and a job that is released, but not yet noticed, no longer protects itself.
/// - Releases have no end: the graph is complete when, a hyperperiod later, nothing new occurs.
/// - The end of a job may release another one by a message. The next job to get the core finds it
///   waiting, and the vertex contains an upper bound on its waiting time. If the policy compares
///   deadlines, its deadline is an interval: every order that may occur is an edge.
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

/// A task of the graph. Job k is released at first.release + k * first.period, and noticed up to
/// `lag` later.
///
/// With a writer it is released at the end of the writer's job k instead: then first.period is 0,
/// first.deadline counts from first.release, `lag` is 0, and the policy must be work-conserving and
/// decide by deadlines, or by priorities of which this one is unique.
struct PeriodicTask {
  sched::Job first = {};  ///< The first job; its deadline is not above its period.
  nanoseconds lag{0};     ///< Largest delay of noticing a release.
  nanoseconds best{1};    ///< Shortest execution time, above 0.
  nanoseconds worst{1};   ///< Longest execution time, not below first.expected_execution.
  std::optional<std::size_t> writer = {};  ///< Index of the task whose jobs release it.
  std::size_t depth = 1;  ///< Messages that may wait; if more would, there is no graph.
};

/// Limits of the exploration.
struct GraphOptions {
  nanoseconds release_overhead{0};        ///< Taken from the job that starts next after a release.
  bool witness = false;                   ///< Record the run that leads to a missed deadline.
  std::size_t most_vertices = 1'000'000;  ///< Takes some seconds; 100 MB with the witness.
};

/// A job of a schedule. Times count from the start.
struct PlacedJob {
  std::size_t task = 0;      ///< Index of its task.
  std::uint64_t index = 0;   ///< Index of its release.
  nanoseconds release{0};    ///< When it is released.
  nanoseconds start{0};      ///< When it starts; for a job that misses: the earliest time.
  nanoseconds execution{0};  ///< How long it computes.
};

/// The result of the exploration.
struct ScheduleGraph {
  /// Whether deadlines are met.
  enum class Outcome : std::uint8_t {
    met,      ///< in every schedule
    missed,   ///< not in every schedule
    unknown,  ///< too many vertices, or not supported: see reason
  };
  Outcome outcome = Outcome::unknown;  ///< The verdict.
  /// False: some edges may be impossible, so `missed` may be wrong, while `met` is always right and
  /// responses are upper bounds. True without messages, lags and release overhead, and for all
  /// work-conserving policies with lags.
  bool exact = false;
  std::vector<nanoseconds> responses = {};  ///< If met: the longest response of each task.
  /// If missed: the run up to the job that misses, which is the last.
  std::vector<PlacedJob> witness = {};
  std::string reason = {};   ///< If unknown: why.
  std::size_t vertices = 0;  ///< Size of the graph.
};

/// Explores all schedules (Nasri & Brandenburg 2017). Takes microseconds to seconds; see
/// GraphOptions::most_vertices.
TAKT_CORE_PUBLIC ScheduleGraph explore(const sched::Policy& policy,
                                       std::span<const PeriodicTask> tasks,
                                       const GraphOptions& options = {});

}  // namespace takt::analysis
