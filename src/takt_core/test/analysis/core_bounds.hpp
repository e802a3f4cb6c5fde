// SPDX-License-Identifier: Apache-2.0
//
// What the analysis says of chains over several cores, beside all that can happen on these.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/core_sets.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "takt/application/compile.hpp"

namespace takt::analysis {

// Times from the release of a timer in ticks.
struct BoundedTask {
  Response latency = {};    // from the timer's release to the end
  Response response = {};   // from its own release
  std::int64_t offset = 0;  // from the timer's release to its own, at least
};

// By task, in the only scenario, without a schedule graph.
inline std::vector<BoundedTask> bounds_on_cores(const std::vector<CoreTask>& tasks,
                                                const std::string& policy) {
  const application::Application app = application_of(tasks, policy);
  const sched::CompiledStrategy strategy = application::compile(app);
  ScenarioModel model{app, strategy, strategy.scenarios().front()};
  Effort effort;
  const ScenarioBounds found = model.solve(effort, Graphs::none);
  std::vector<BoundedTask> result(tasks.size());
  for (std::size_t stream = 0; stream < model.streams().size(); ++stream) {
    result[model.streams()[stream].callback] = {.latency = found.latencies[stream],
                                                .response = found.responses[stream],
                                                .offset = model.offset(stream).count()};
  }
  return result;
}

// Holds every run against the bounds. `count`: gets the number of a task, its bounds and what its
// runs reach. Returns whether all that can happen has been looked at.
template <class Count>
bool hold_on_cores(const std::vector<CoreTask>& tasks, const std::string& policy,
                   std::size_t most_situations, Count count) {
  const CoresReached reached = reach_all_on_cores(rule_of(policy), tasks, most_situations);
  const std::vector<BoundedTask> bounds = bounds_on_cores(tasks, policy);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    SCOPED_TRACE("c" + std::to_string(i));
    EXPECT_LE(reached.latencies[i], bounds[i].latency.bound.value_or(never).count());
    EXPECT_LE(reached.responses[i], bounds[i].response.bound.value_or(never).count());
    count(i, bounds[i], reached);
  }
  return reached.complete;
}

// Draws until no core has more to do than it can.
template <class Draw>
std::vector<CoreTask> draw_until_schedulable(Draw draw) {
  for (;;) {
    std::vector<CoreTask> tasks = draw();
    std::vector<double> load(2);
    for (const CoreTask& task : tasks) {
      load[task.core] += static_cast<double>(task.worst) / static_cast<double>(task.period);
    }
    if (std::ranges::max(load) <= 1) {
      return tasks;
    }
  }
}

}  // namespace takt::analysis
