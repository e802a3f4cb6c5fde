// SPDX-License-Identifier: Apache-2.0
//
// All that the threads look up while they run: the compiled scenarios, and what keeps data young in
// each of them. A plan never changes; adding or removing a task makes a new one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "takt/executor/task_state.hpp"
#include "takt/sched/compiled.hpp"

namespace takt::executor {

// Asks the source of a topic for a job before its regular release, because a reader's next job
// would otherwise start on data that is too old. Written by the reader's core, read by the
// source's; the reader writes `at` last. A reading that mixes two requests costs one early release
// too many or one look more, never a missed request: `at` is announced again with each one.
struct AgeWatch {
  const sched::AgeConstraint* constraint = nullptr;
  std::atomic<std::int64_t> at{INT64_MAX};      // look at this time; INT64_MAX: nothing is asked
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

// One scenario, as a core follows it.
struct Target {
  const sched::CompiledScenario* scenario = nullptr;
  std::uint16_t id = 0;
  std::vector<std::unique_ptr<AgeWatch>> watches;
  std::vector<std::vector<AgeWatch*>> by_reader;  // by task index
  std::vector<std::vector<AgeWatch*>> by_source;
  std::vector<std::vector<AgeLimit>> limits;  // by reader
};

struct Plan {
  explicit Plan(sched::CompiledStrategy compiled) : strategy(std::move(compiled)) {}

  sched::CompiledStrategy strategy;
  std::vector<std::unique_ptr<Target>> targets;  // by scenario
};

// `topic_of` finds the topic of a name.
std::unique_ptr<Plan> make_plan(sched::CompiledStrategy strategy,
                                const std::function<Topic*(const std::string&)>& topic_of);

}  // namespace takt::executor
