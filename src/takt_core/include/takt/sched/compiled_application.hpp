// SPDX-License-Identifier: Apache-2.0
//
// All that decisions look up while an application runs: the compiled scenarios, the order of the
// tasks on each core, and what keeps data young. A compiled application never changes; adding or
// removing a task makes a new one.
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

// A topic between tasks. When its newest data was sampled: the release of the timer job at the head
// of the chain that produced it.
struct Topic {
  std::string name;
  std::uint16_t id = 0;
  std::atomic<std::int64_t> sampled{no_sample};  // nanoseconds of CLOCK_MONOTONIC

  static constexpr std::int64_t no_sample = INT64_MIN;
};

// Asks the source of a topic for a sample, because a reader's next job would otherwise start on
// data that is too old. Written by the reader's core, read by the source's; the reader writes `at`
// last. A reading that mixes two requests costs one early release too many or one look more, never
// a missed request: `at` is announced again with each one.
struct AgeWatch {
  const AgeConstraint* constraint = nullptr;
  std::atomic<std::int64_t> at{INT64_MAX};      // the source runs from here on; INT64_MAX: nothing
                                                // is asked
  std::atomic<std::int64_t> from{INT64_MIN};    // and is released here, if not before
  std::atomic<std::int64_t> oldest{INT64_MIN};  // a sample of this time or later will do
  std::atomic<std::int64_t> needed{INT64_MAX};  // when the data must be there
  std::int64_t asked = INT64_MIN;  // the last `at`; the reader's alone. Never asked for twice:
                                   // tasks that read from each other would not stop asking
};

// The reader's constraint on one topic, with where to find the topic's last sample.
struct AgeLimit {
  Topic* topic = nullptr;
  std::chrono::nanoseconds max_age{0};
};

// The tasks of one core in one scenario, the highest preemption level first: a task's place. A
// release that may be noticed late (Task::jitter) may be due before jobs of a shorter deadline: its
// level here is that of what is left of its deadline then; that of a task whose jobs may be boosted
// is theirs, so that they are noticed in time.
struct TAKT_CORE_PUBLIC Roster {
  std::vector<TaskIndex> tasks;
  std::vector<Level> levels;

  // How many tasks may preempt a job of this level.
  [[nodiscard]] std::size_t count_above(Level level) const noexcept;
};

struct CoreTask;  // of whoever drives the cores

// One scenario, as a core follows it.
struct Target {
  const CompiledScenario* scenario = nullptr;
  std::uint16_t id = 0;
  std::uint64_t version = 0;         // of its compiled application
  std::span<CoreTask* const> tasks;  // of the compiled application
  std::vector<Roster> rosters;       // by core
  std::vector<std::unique_ptr<AgeWatch>> watches;
  std::vector<std::vector<AgeWatch*>> by_reader;  // by task index
  std::vector<std::vector<AgeWatch*>> by_source;
  std::vector<std::vector<AgeLimit>> limits;  // by reader
};

struct CompiledApplication {
  explicit CompiledApplication(CompiledStrategy of) : strategy(std::move(of)) {}

  CompiledStrategy strategy;
  std::uint64_t version = 0;                     // later compiled applications have higher ones
  std::vector<CoreTask*> tasks;                  // by index; of whoever drives cores by it
  std::vector<std::unique_ptr<Target>> targets;  // by scenario
};

// `cores`: the tasks of each core (of everything that decides on its own). `topic_of` finds the
// topic of a name.
TAKT_CORE_PUBLIC std::unique_ptr<CompiledApplication> compile_application(
    CompiledStrategy strategy, std::uint64_t version, std::span<const std::vector<TaskIndex>> cores,
    const std::function<Topic*(const std::string&)>& topic_of);

}  // namespace takt::sched
