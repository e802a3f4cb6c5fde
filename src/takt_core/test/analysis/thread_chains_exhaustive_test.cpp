// SPDX-License-Identifier: Apache-2.0
//
// The bounds of chains under rclcpp's multi-threaded executor against every run of small sets.
#include <gtest/gtest.h>

#include <iostream>
#include <numeric>

#include "analysis/every_run_of_threads.hpp"
#include "analysis/exhaustive_sets.hpp"
#include "analysis/random_tasks.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "takt/application/compile.hpp"

namespace takt::analysis {
namespace {

struct ThreadSet {
  std::vector<Demand> demands = {};  // of a callback behind another one without releases
  std::vector<std::size_t> after = {};
  std::size_t threads = 2;
};

application::Application application_of(const ThreadSet& set) {
  application::Application app{.name = "random", .policy = "rclcpp_multi_threaded"};
  app.cpus.resize(set.threads);
  std::iota(app.cpus.begin(), app.cpus.end(), 0);
  for (std::size_t i = 0; i < set.demands.size(); ++i) {
    const Demand& demand = set.demands[i];
    application::Callback own;
    own.task.name = name_of(i);
    own.node = "g" + std::to_string(demand.group);
    own.task.group = demand.reentrant ? "" : own.node;
    own.reentrant = demand.reentrant;
    own.task.parameters = {.deadline = nanoseconds{1000},
                           .expected_execution = demand.execution,
                           .overrun = sched::Overrun::catch_up};
    own.execution = {.best = nanoseconds{1}, .worst = demand.execution};
    own.execution.quantiles = {own.execution.best, own.execution.worst};
    if (set.after[i] == EveryRunOfThreads::nobody) {
      own.task.parameters.period = demand.releases.period;
      own.task.any_offset = true;
    } else {
      own.task.kind = sched::TaskKind::message;
      own.task.trigger = "t" + std::to_string(set.after[i]);
    }
    own.task.writes = {"t" + std::to_string(i)};
    app.topics.push_back({.name = "t" + std::to_string(i), .depth = 100});
    app.callbacks.push_back(std::move(own));
  }
  return app;
}

// One chain or two of two or three callbacks, beside others.
ThreadSet draw_thread_set(RandomTasks& random) {
  ThreadSet set{.threads = static_cast<std::size_t>(random.number(2, 3))};
  const auto count = static_cast<std::size_t>(random.number(3, 4));
  for (std::size_t i = 0; i < count; ++i) {
    const bool follows = i == 1 || (i > 1 && random.chance(0.5));
    const std::int64_t execution = random.number(1, count == 3 ? 4 : 2);
    set.after.push_back(
        follows ? static_cast<std::size_t>(random.number(0, static_cast<std::int64_t>(i) - 1))
                : EveryRunOfThreads::nobody);
    set.demands.push_back({.task = i,
                           .group = static_cast<std::size_t>(random.number(0, 3)),
                           .releases = {.period = nanoseconds{random.number(execution + 2, 12)}},
                           .execution = nanoseconds{execution}});
    if (random.chance(0.2)) {
      set.demands.back().reentrant = true;
      set.demands.back().group = 4 + i;
    }
  }
  return set;
}

std::string describe(const ThreadSet& set) {
  std::string text = std::to_string(set.threads) + " threads";
  for (std::size_t i = 0; i < set.demands.size(); ++i) {
    const Demand& demand = set.demands[i];
    text += "; C " + std::to_string(demand.execution.count()) + " group " +
            std::to_string(demand.group) + (demand.reentrant ? " reentrant" : "") +
            (set.after[i] == EveryRunOfThreads::nobody
                 ? " T " + std::to_string(demand.releases.period.count())
                 : " after " + std::to_string(set.after[i]));
  }
  return text;
}

struct ThreadChainsHeld {
  int bounded = 0;
  int reached = 0;
  int busy = 0;          // bounds of eq. 22
  int busy_reached = 0;  // by a run
};

void hold_thread_set(std::uint64_t seed, ThreadChainsHeld& held) {
  RandomTasks random{seed};
  const ThreadSet set = draw_thread_set(random);
  const application::Application app = application_of(set);
  const sched::CompiledStrategy strategy = application::compile(app);
  ScenarioModel model{app, strategy, strategy.scenarios().front()};
  Effort effort;
  const ScenarioBounds bounds = model.solve(effort, Graphs::none);
  const auto longest = EveryRunOfThreads{set.demands, set.threads, set.after}.run();
  for (std::size_t i = 0; i < model.streams().size() && !longest.latencies.empty(); ++i) {
    const std::size_t callback = model.streams()[i].callback;
    const std::string where = "c" + std::to_string(callback) + " of " + describe(set);
    const Response& latency = bounds.latencies[i];
    EXPECT_LE(longest.latencies[callback], latency.bound.value_or(never).count()) << where;
    EXPECT_LE(longest.responses[callback], bounds.responses[i].bound.value_or(never).count())
        << where;
    if (latency.bound) {
      const bool reached = longest.latencies[callback] == latency.bound->count();
      held.bounded += 1;
      held.reached += reached ? 1 : 0;
      held.busy += latency.by == By::busy ? 1 : 0;
      held.busy_reached += reached && latency.by == By::busy ? 1 : 0;
    }
  }
}

TEST(thread_chains, no_run_of_small_sets_is_above_the_bound) {
  ThreadChainsHeld held;
  const std::uint64_t end = first_seed() + static_cast<std::uint64_t>(rounds(60));
  for (std::uint64_t seed = first_seed(); seed < end && !HasFailure(); ++seed) {
    hold_thread_set(seed, held);
  }
  std::cout << held.reached << " of " << held.bounded << " bounds are reached, of eq. 22 "
            << held.busy_reached << " of " << held.busy << '\n';
  const bool whole = rounds(60) >= 60;  // in a part of the sets there may be none
  EXPECT_GT(held.bounded, whole ? rounds(60) : 0);
  EXPECT_GT(held.busy, whole ? rounds(20) : -1);
  EXPECT_GT(held.busy_reached, whole ? rounds(2) : -1);
}

}  // namespace
}  // namespace takt::analysis
