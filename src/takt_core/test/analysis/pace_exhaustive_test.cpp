// SPDX-License-Identifier: Apache-2.0
//
// Two chains that have their cores to themselves, against all that can happen on these
// (docs/reference/analysis.md, eq. 46). By hand as exhaustive_test.cpp.
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

// Two chains over two cores, with periods in which all of their jobs may end; sometimes a
// callback that does not belong to them.
class PaceSets : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  std::vector<CoreTask> draw() {
    std::vector<CoreTask> tasks;
    const auto all = static_cast<std::size_t>(number(5, 7));
    const auto first = static_cast<std::size_t>(number(2, static_cast<int>(all) - 2));
    constexpr int cores = 2;
    const bool fixed = chance(0.4);
    const bool foreign = chance(0.15);
    for (std::size_t i = 0; i < all; ++i) {
      const bool begins = i == 0 || i == first;
      const bool turns = !begins && chance(0.8);
      const auto core = turns ? (tasks.back().core + 1) % static_cast<std::size_t>(cores)
                              : static_cast<std::size_t>(number(0, cores - 1));
      const std::int64_t worst = number(1, 3);
      tasks.push_back({.core = core,
                       .before = begins ? CoreTask::timer : i - 1,
                       .best = fixed || chance(0.5) ? worst : number(0, worst),
                       .worst = worst,
                       .deadline = number(4, 30)});
    }
    if (foreign && all < 7) {
      tasks.push_back({.core = static_cast<std::size_t>(number(0, cores - 1)), .deadline = 10});
    }
    order(tasks, first);
    const std::int64_t period = number(16, 30);
    for (CoreTask& task : tasks) {
      task.period = period;
    }
    return tasks;
  }

 private:
  // One chain above the other one, or any.
  void order(std::vector<CoreTask>& tasks, std::size_t first) {
    std::vector<int> priorities(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      priorities[i] = static_cast<int>(i + 1);
    }
    if (chance(0.5)) {
      shuffle(*this, priorities);
    } else if (chance(0.3)) {
      std::ranges::reverse(priorities);
      std::ranges::rotate(priorities, priorities.begin() + static_cast<std::ptrdiff_t>(first));
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].priority = priorities[i];
    }
  }
};

struct PaceTally {
  int complete = 0;
  int paced = 0;  // latencies bounded by eq. 46
  int reached = 0;
};

void hold_paced(const std::vector<CoreTask>& tasks, const std::string& policy, PaceTally& tally) {
  const CoresReached reached = reach_all_on_cores(rule_of(policy), tasks, 20'000);
  const application::Application app = application_of(tasks, policy);
  const sched::CompiledStrategy strategy = application::compile(app);
  ScenarioModel model{app, strategy, strategy.scenarios().front()};
  Effort effort;
  const ScenarioBounds found = model.solve(effort, Graphs::none);
  tally.complete += reached.complete ? 1 : 0;
  for (std::size_t stream = 0; stream < model.streams().size(); ++stream) {
    const std::size_t task = model.streams()[stream].callback;
    const Response& latency = found.latencies[stream];
    EXPECT_LE(reached.latencies[task], latency.bound.value_or(never).count()) << "c" << task;
    EXPECT_LE(reached.responses[task], found.responses[stream].bound.value_or(never).count())
        << "c" << task;
    if (latency.bound && latency.by == By::path_paced && reached.complete) {
      ++tally.paced;
      tally.reached += reached.latencies[task] == latency.bound->count() ? 1 : 0;
    }
  }
}

class EveryRunOfTwoChains : public testing::TestWithParam<std::string> {};

TEST_P(EveryRunOfTwoChains, keeps_to_its_bounds) {
  PaceTally tally;
  const int sets = rounds(60);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const std::vector<CoreTask> tasks = PaceSets{seed}.draw();
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + GetParam() + describe(tasks));
    hold_paced(tasks, GetParam(), tally);
  }
  EXPECT_GT(tally.complete, sets / 3);
  EXPECT_GT(tally.paced, 0);
  EXPECT_GT(tally.reached, 0);
  std::cout << tally.complete << " of " << sets << " sets complete; " << tally.reached << " of "
            << tally.paced << " latencies by eq. 46 reached\n";
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryRunOfTwoChains,
                         testing::Values("fp", "np-fp", "edf", "np-edf"), test::policy_name);

}  // namespace
}  // namespace takt::analysis
