// SPDX-License-Identifier: Apache-2.0
//
// Chains that come back to their cores, against all that can happen on these (docs/reference/
// analysis.md, eq. 42). By hand as exhaustive_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>

#include "../policies.hpp"
#include "analysis/core_sets.hpp"
#include "analysis/every_run_of_cores.hpp"
#include "analysis/exhaustive_sets.hpp"
#include "analysis/random_tasks.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "takt/application/compile.hpp"

namespace takt::analysis {
namespace {

// A chain that comes back to a core while earlier releases are on their way, and up to two timers
// beside it.
class ReturningSets : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  std::vector<CoreTask> draw() {
    for (;;) {
      std::vector<CoreTask> tasks = draw_once();
      double load = 0;
      for (std::size_t core = 0; core < 2; ++core) {
        double own = 0;
        for (const CoreTask& task : tasks) {
          own += task.core == core
                     ? static_cast<double>(task.worst) / static_cast<double>(task.period)
                     : 0;
        }
        load = std::max(load, own);
      }
      if (load <= 1) {
        return tasks;
      }
    }
  }

 private:
  std::vector<CoreTask> draw_once() {
    std::vector<CoreTask> tasks;
    const bool anywhere = chance(0.25);
    const bool branches = chance(0.2);
    const auto links = static_cast<std::size_t>(number(3, 5));
    const std::int64_t period = number(4, 9);
    for (std::size_t i = 0; i < links; ++i) {
      const std::size_t before = branches && i > 1 && chance(0.4) ? i - 2 : i - 1;
      std::size_t core = 0;
      if (i > 0) {
        core = chance(0.2) ? tasks[before].core : 1 - tasks[before].core;
      }
      tasks.push_back(task(core, period, number(1, 3)));
      tasks.back().before = i == 0 ? CoreTask::timer : before;
      tasks.back().anywhere = anywhere && chance(0.4);
    }
    for (std::int64_t timers = number(0, links > 4 ? 1 : 2); timers > 0; --timers) {
      tasks.push_back(task(static_cast<std::size_t>(number(0, 1)), number(4, 10), number(1, 3)));
    }
    std::vector<int> priorities(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      priorities[i] = static_cast<int>(i + 1);
    }
    if (chance(0.5)) {
      shuffle(*this, priorities);
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].priority = priorities[i];
    }
    return tasks;
  }

  CoreTask task(std::size_t core, std::int64_t period, std::int64_t worst) {
    return {.core = core,
            .period = period,
            .best = chance(0.6) ? worst : number(0, worst),
            .worst = worst,
            .deadline = chance(0.5) ? period : number(1, 2 * period)};
  }
};

struct ReturningTally {
  int complete = 0;
  int bounds = 0;
  int reached = 0;
  int in_order = 0;  // of the bounds: by eq. 42
  int in_order_reached = 0;
};

// Of the latency of one task.
void hold_latency(const Response& bound, std::int64_t longest, bool complete,
                  ReturningTally& tally) {
  if (!bound.bound) {
    return;
  }
  EXPECT_LE(longest, bound.bound->count());
  const bool in_order = bound.by == By::subchain_returns;
  const bool reached = complete && longest == bound.bound->count();
  tally.bounds += complete ? 1 : 0;
  tally.in_order += complete && in_order ? 1 : 0;
  tally.reached += reached ? 1 : 0;
  tally.in_order_reached += in_order && reached ? 1 : 0;
}

void compare(const std::vector<CoreTask>& tasks, const std::string& policy, ReturningTally& tally) {
  const CoresReached reached = reach_all_on_cores(rule_of(policy), tasks, 20'000);
  const application::Application app = application_of(tasks, policy);
  const sched::CompiledStrategy strategy = application::compile(app);
  ScenarioModel model{app, strategy, strategy.scenarios().front()};
  Effort effort;
  const ScenarioBounds found = model.solve(effort, Graphs::none);
  tally.complete += reached.complete ? 1 : 0;
  for (std::size_t stream = 0; stream < model.streams().size(); ++stream) {
    const std::size_t task = model.streams()[stream].callback;
    SCOPED_TRACE("c" + std::to_string(task));
    hold_latency(found.latencies[stream], reached.latencies[task], reached.complete, tally);
    const std::optional<nanoseconds> response = found.responses[stream].bound;
    EXPECT_LE(reached.responses[task], response.value_or(never).count());
  }
}

class EveryReturningRun : public testing::TestWithParam<std::string> {};

TEST_P(EveryReturningRun, keeps_to_its_bounds) {
  ReturningTally tally;
  const int sets = rounds(40);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const std::vector<CoreTask> tasks = ReturningSets{seed}.draw();
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + GetParam() + describe(tasks));
    compare(tasks, GetParam(), tally);
  }
  EXPECT_GT(tally.complete, sets / 3);
  EXPECT_GT(tally.reached, tally.bounds / 3);
  EXPECT_GT(tally.in_order, GetParam().ends_with("edf") ? -1 : 0);
  std::cout << tally.complete << " of " << sets << " sets complete; " << tally.reached << " of "
            << tally.bounds << " latencies reached, by the order of returns "
            << tally.in_order_reached << " of " << tally.in_order << "\n";
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryReturningRun,
                         testing::Values("fp", "np-fp", "edf", "np-edf"), test::policy_name);

}  // namespace
}  // namespace takt::analysis
