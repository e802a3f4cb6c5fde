// SPDX-License-Identifier: Apache-2.0
/// @file
/// The tables that decisions use while an application runs: compiled scenarios, the order of the
/// tasks on each core, and the constraints on the age of data. A compiled application never
/// changes, apart from the atomic times in it; adding or removing a task makes a new one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "takt/sched/compiled.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

/// A topic between tasks, with the time at which its newest data was sampled: the release of the
/// timer job at the head of the chain that produced it.
struct Topic {
  std::string name;                              ///< Unique in the application.
  std::uint16_t id = 0;                          ///< Number of the topic in traces.
  std::atomic<std::int64_t> sampled{no_sample};  ///< Nanoseconds of CLOCK_MONOTONIC.

  static constexpr std::int64_t no_sample = INT64_MIN;  ///< Value of `sampled` without data.
};

/// A reader's request to the source of a topic, made when the reader's next job would otherwise
/// start on data that is too old. Times are nanoseconds of CLOCK_MONOTONIC.
///
/// The reader's core writes it, with `at` last; the source's core reads it. A read that mixes two
/// requests costs one early release or one check too many, but never loses a request, because `at`
/// is announced with each one.
struct AgeWatch {
  const AgeConstraint* constraint = nullptr;  ///< The constraint to keep.
  /// From here on the job of the source is boosted; INT64_MAX: no request.
  std::atomic<std::int64_t> at{INT64_MAX};
  /// The source is released at this time, if not before.
  std::atomic<std::int64_t> from{INT64_MIN};
  /// A sample of this time or later satisfies the request.
  std::atomic<std::int64_t> oldest{INT64_MIN};
  /// When the data must be available.
  std::atomic<std::int64_t> needed{INT64_MAX};
  /// The last value of `at`; used by the reader only. The same value is never requested twice:
  /// tasks that read from each other would go on without end.
  std::int64_t asked = INT64_MIN;
};

/// A reader's limit on the age of one topic, with the place of that topic's sample time.
struct AgeLimit {
  Topic* topic = nullptr;               ///< The topic that is read.
  std::chrono::nanoseconds max_age{0};  ///< Read::max_age; above 0.
};

/// The tasks of one core in one scenario, sorted by descending preemption level; the position of a
/// task is its place.
///
/// A release that may be noticed late (Task::jitter) can be due before jobs with a shorter
/// deadline: its level here is that of the remaining part of its deadline. The level of a task
/// whose jobs may be boosted is the boosted one, so that they are noticed in time; one that may be
/// released early is above all.
struct TAKT_CORE_PUBLIC Roster {
  std::vector<TaskIndex> tasks;  ///< By place.
  std::vector<Level> levels;     ///< By place; descending.

  /// How many tasks may preempt a job of this level.
  [[nodiscard]] std::size_t count_above(Level level) const noexcept;
};

/// Task state of the executor or simulator, see core_state.hpp.
struct CoreTask;

/// One scenario, as a core follows it.
struct Target {
  const CompiledScenario* scenario = nullptr;  ///< Its tables.
  std::uint16_t id = 0;                        ///< Number of the scenario in traces.
  std::uint64_t version = 0;                   ///< Version of the compiled application.
  std::span<CoreTask* const> tasks;            ///< Tasks of the compiled application, by index.
  std::vector<Roster> rosters;                 ///< By core.
  /// One for each constraint that needs early releases.
  std::vector<std::unique_ptr<AgeWatch>> watches;
  std::vector<std::vector<AgeWatch*>> by_reader;  ///< By task index of the reader.
  std::vector<std::vector<AgeWatch*>> by_source;  ///< By task index of the source.
  std::vector<std::vector<AgeLimit>> limits;      ///< By task index of the reader.
};

/// All tables of an application in one version.
struct CompiledApplication {
  /// Takes over a compiled strategy; compile_application() fills in the rest.
  explicit CompiledApplication(CompiledStrategy of) : strategy(std::move(of)) {}

  CompiledStrategy strategy;                     ///< Tasks, cores and scenarios.
  std::uint64_t version = 0;                     ///< Higher in later versions.
  std::vector<CoreTask*> tasks;                  ///< By index; set by the executor or simulator.
  std::vector<std::unique_ptr<Target>> targets;  ///< By scenario.
};

/// Builds the tables of an application.
/// @param strategy tasks, cores and scenarios.
/// @param version the version of this application.
/// @param cores the tasks of each core, or of each other unit that decides on its own.
/// @param topic_of finds the topic of a name.
TAKT_CORE_PUBLIC std::unique_ptr<CompiledApplication> compile_application(
    CompiledStrategy strategy, std::uint64_t version, std::span<const std::vector<TaskIndex>> cores,
    const std::function<Topic*(const std::string&)>& topic_of);

}  // namespace takt::sched
