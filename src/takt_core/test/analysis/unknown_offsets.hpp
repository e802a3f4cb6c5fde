// SPDX-License-Identifier: Apache-2.0
//
// Whether a bound rests on an offset that nobody knows: the same application is simulated with many
// offsets, and none of these runs may be above the bounds of the application whose offsets are
// unknown. A report that takes them for 0 is the deliberate error.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "analysis/random_tasks.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {

// `offset` of each timer whose offset is unknown, by its period.
template <class Offset>
application::Application with_known_offsets(application::Application app, const Offset& offset) {
  for (application::Callback& callback : app.callbacks) {
    if (callback.task.any_offset) {
      callback.task.any_offset = false;
      callback.task.parameters.offset =
          nanoseconds{offset(callback.task.parameters.period.count())};
    }
  }
  return app;
}

// Forgets offsets of timers; whether of several timers one was forgotten.
inline bool forget_offsets(application::Application& app, RandomTasks& random) {
  bool forgotten = false;
  int timers = 0;
  for (application::Callback& callback : app.callbacks) {
    sched::Task& task = callback.task;
    timers += task.kind == sched::TaskKind::timer ? 1 : 0;
    if (task.kind == sched::TaskKind::timer && random.chance(0.6)) {
      task.any_offset = forgotten = true;
      task.parameters.offset = nanoseconds{0};
    }
  }
  return forgotten && timers > 1;
}

inline std::string above(const std::string& what, const std::optional<nanoseconds>& bound,
                         const sim::Distribution& run) {
  return !bound || run.count == 0 || run.max <= *bound
             ? ""
             : what + ": " + std::to_string(run.max.count()) + " is above " +
                   std::to_string(bound->count()) + "\n";
}

// What of a run is above its bound, or late although it is said to be in time.
inline std::string above_bounds(const ScenarioReport& report, const sim::Result& run) {
  std::string found;
  const auto of = [&](const std::string& name) -> const sim::CallbackResult& {
    return *std::ranges::find(run.callbacks, name, &sim::CallbackResult::name);
  };
  for (const CallbackReport& callback : report.callbacks) {
    found += above(callback.name + " by " + callback.bound_by, callback.response,
                   of(callback.name).response);
    if (callback.verdict == Verdict::meets && of(callback.name).misses > 0) {
      found += callback.name + " is late\n";
    }
  }
  for (std::size_t i = 0; i < report.chains.size(); ++i) {
    const ChainReport& chain = report.chains[i];
    found += above("latency by " + chain.bound_by, chain.latency, run.chains[i].latency);
    found += above("reaction by " + chain.bound_by, chain.reaction, run.chains[i].reaction);
    found += above("age by " + chain.bound_by, chain.age, run.chains[i].age);
  }
  for (const AgeReport& age : report.ages) {
    if (std::ranges::count(report.ages, age.callback, &AgeReport::callback) == 1) {
      found += above("data by " + age.bound_by, age.age, of(age.callback).sample_age);
    }
  }
  return found;
}

struct OffsetTally {
  int sets = 0;
  int bounded = 0;  // responses and latencies
  int wrong = 0;    // sets in which a run is above a bound that takes the offsets for 0
};

// `length`: of each run. Fails where a run is above a bound.
inline void play_offsets(const application::Application& app, nanoseconds length, int plays,
                         RandomTasks& random, OffsetTally& tally) {
  const Options options{.sensitivity = false, .proposals = false};
  const ScenarioReport report = analyse(app, options).scenarios.front();
  const ScenarioReport wrong =
      analyse(with_known_offsets(app, [](std::int64_t) { return 0; }), options).scenarios.front();
  ++tally.sets;
  for (const CallbackReport& callback : report.callbacks) {
    tally.bounded += callback.response ? 1 : 0;
  }
  for (const ChainReport& chain : report.chains) {
    tally.bounded += chain.latency ? 1 : 0;
  }
  bool noticed = false;
  for (int i = 0; i < plays && !testing::Test::HasFailure(); ++i) {
    const application::Application played =
        with_known_offsets(app, [&](std::int64_t period) { return random.number(0, period); });
    for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
      const sim::Result run = sim::simulate(played, {.duration = length,
                                                     .seed = static_cast<std::uint64_t>(i),
                                                     .execution = execution,
                                                     .percentiles = false});
      EXPECT_EQ(above_bounds(report, run), "");
      noticed = noticed || !above_bounds(wrong, run).empty();
    }
  }
  tally.wrong += noticed ? 1 : 0;
}

}  // namespace takt::analysis
