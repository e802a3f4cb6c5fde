// SPDX-License-Identifier: Apache-2.0
//
// Chains that are analysed as a whole, against all that can happen on one core. By hand as
// exhaustive_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "../policies.hpp"
#include "analysis/exhaustive_draw.hpp"
#include "analysis/exhaustive_errors.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "takt/application/compile.hpp"

namespace takt::analysis {
namespace {

// One to three chains of up to four callbacks in all; some branch.
class ChainSets : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  ExhaustiveSet draw(const std::string& policy) {
    for (;;) {
      ExhaustiveSet set = draw_once(policy);
      std::vector<OracleTask> tasks;
      std::ranges::transform(set.tasks, std::back_inserter(tasks), &ExhaustiveTask::task);
      const bool messages = std::ranges::any_of(
          set.tasks, [](const ExhaustiveTask& entry) { return !entry.trigger.writers.empty(); });
      if (messages && utilization(tasks) <= 1) {
        return set;
      }
    }
  }

 private:
  ExhaustiveSet draw_once(const std::string& policy) {
    ExhaustiveSet set{.policy = policy, .rule = rule_of(policy), .tasks = {}};
    const auto count = static_cast<std::size_t>(number(2, 4));
    const bool rising = chance(0.3);
    const bool groups = (set.rule == Rule::fp || set.rule == Rule::edf) && chance(0.2);
    const bool lags = chance(0.25);
    const bool drops = chance(0.3);
    const bool joins = chance(0.15);
    const bool anywhere = chance(0.5);
    for (std::size_t i = 0; i < count; ++i) {
      ExhaustiveTask entry;
      OracleTask& task = entry.task;
      const std::size_t writer = chance(0.8) || i == 0
                                     ? i - 1
                                     : static_cast<std::size_t>(number(0, static_cast<int>(i) - 1));
      task.execution = number(1, 4);
      task.best = chance(0.5) ? number(1, task.execution) : task.execution;
      task.priority =
          static_cast<int>(rising ? number(1, 3) + 2 * static_cast<int>(i) : number(1, 6));
      task.group = groups && chance(0.5) ? 1 : 0;
      entry.anywhere = anywhere && chance(0.7);
      if (i > 0 && chance(0.75)) {
        entry.trigger = {.writers = {writer}, .depth = number(1, 4)};
        if (joins && writer > 0) {
          entry.trigger.writers.push_back(0);
        }
        task.period = set.tasks[writer].task.period;
        task.lag = lags && chance(0.2) ? number(1, 3) : 0;
      } else {
        task.period = number(4, 16);
        task.offset = chance(0.3) ? number(0, task.period) : 0;
        task.lag = lags && chance(0.6) ? number(1, 6) : 0;
      }
      task.deadline = chance(0.5) ? task.period : number(task.execution, 2 * task.period);
      if (drops && chance(0.4)) {
        entry.drop = chance(0.7) ? Drop::stale : Drop::all_but_one;
      }
      set.tasks.push_back(entry);
    }
    set.chain = longest_chain(set);
    if (chance(0.15)) {
      add_costs(set);
    }
    return set;
  }

  void add_costs(ExhaustiveSet& set) {
    for (std::int64_t* const cost : {&set.costs.dispatch, &set.costs.preemption, &set.costs.release,
                                     &set.costs.publish, &set.costs.deliver}) {
      *cost = chance(0.3) ? 1 : 0;
    }
  }

  static std::vector<std::size_t> longest_chain(const ExhaustiveSet& set) {
    std::vector<std::size_t> longest;
    for (std::size_t i = 0; i < set.tasks.size(); ++i) {
      std::vector<std::size_t> chain = {i};
      while (!set.tasks[chain.front()].trigger.writers.empty()) {
        chain.insert(chain.begin(), set.tasks[chain.front()].trigger.writers.front());
      }
      longest = chain.size() > longest.size() ? chain : longest;
    }
    return longest;
  }
};

// The same with two or three messages of some jobs for each callback that they release.
class BurstSets : public ChainSets {
 public:
  using ChainSets::ChainSets;

  ExhaustiveSet draw_bursts(const std::string& policy) {
    for (;;) {
      ExhaustiveSet set = draw(policy);
      bool bursts = false;
      double load = 0;
      std::vector<double> jobs;  // of each period of the timer that they follow from
      for (std::size_t i = 0; i < set.tasks.size(); ++i) {
        ExhaustiveTask& entry = set.tasks[i];
        double own = entry.trigger.writers.empty() ? 1 : 0;
        for (const std::size_t writer : entry.trigger.writers) {
          own += jobs[writer] * static_cast<double>(set.tasks[writer].messages);
          bursts = bursts || set.tasks[writer].messages > 1;
        }
        jobs.push_back(own);
        load += own * static_cast<double>(entry.task.execution) /
                static_cast<double>(entry.task.period);
        entry.messages = chance(0.6) ? number(2, 3) : 1;
      }
      if (bursts && load <= 0.95) {
        return set;
      }
    }
  }
};

struct ChainTally {
  int complete = 0;
  int bounded = 0;  // latencies of chains
  int reached = 0;
  int as_a_unit = 0;
  int responses = 0;
  int responses_reached = 0;
  int busy = 0;  // sets with a bound of the longest busy period
  int busy_reached = 0;
  double bounds = 0;  // the sum of latencies, and of what is reached
  double found = 0;
};

void count(const ExhaustiveSet& set, const ScenarioReport& report, const Reached& reached,
           ChainTally& tally) {
  if (!reached.complete) {
    return;
  }
  ++tally.complete;
  for (const ChainReport& chain : report.chains) {
    if (chain.latency && reached.latency > 0) {
      ++tally.bounded;
      tally.as_a_unit += chain.bound_by.starts_with("chain on one core") ? 1 : 0;
      tally.reached += chain.latency == nanoseconds{reached.latency} ? 1 : 0;
      tally.bounds += static_cast<double>(chain.latency->count());
      tally.found += static_cast<double>(reached.latency);
    }
  }
  for (std::size_t i = 0; i < set.tasks.size(); ++i) {
    const auto& response = report.callbacks[i].response;
    tally.responses += response ? 1 : 0;
    tally.responses_reached += response == nanoseconds{reached.responses[i]} ? 1 : 0;
  }
}

// Whatever the order of jobs is, none outlasts the longest time that the core is busy.
void compare_busy(const ExhaustiveSet& set, const Reached& reached, ChainTally& tally) {
  const application::Application app = application_of(set);
  const sched::CompiledStrategy strategy = application::compile(app);
  ScenarioModel model{app, strategy, strategy.scenarios().front()};
  Effort effort;
  if (!model.solve(effort, Graphs::none).converged) {
    return;
  }
  const std::optional<nanoseconds> busy = model.longest_busy(0);
  if (!busy) {
    return;
  }
  std::int64_t late = 0;
  for (const ExhaustiveTask& entry : set.tasks) {
    late = std::max(late, entry.task.lag);
  }
  const std::int64_t longest = *std::ranges::max_element(reached.responses);
  EXPECT_LE(longest, busy->count() + late) << describe(set);
  tally.busy += reached.complete ? 1 : 0;
  tally.busy_reached += reached.complete && longest == busy->count() + late ? 1 : 0;
}

class EveryChainRun : public testing::TestWithParam<std::string> {};

TEST_P(EveryChainRun, keeps_to_its_bounds) {
  ChainTally tally;
  const int sets = rounds(400);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const ExhaustiveSet set = ChainSets{seed}.draw(GetParam());
    Exhaustive options = options_of(set);
    options.most_situations = 30'000;
    const Reached reached = reach_all(options, set.tasks);
    const ScenarioReport report =
        analyse(application_of(set), {.sensitivity = false, .proposals = false}).scenarios.front();
    EXPECT_EQ(error_in(set, report, reached), "") << "seed " << seed << ": " << describe(set);
    count(set, report, reached, tally);
    compare_busy(set, reached, tally);
  }
  EXPECT_GT(tally.busy, sets / 4);
  EXPECT_GT(tally.busy_reached, tally.busy / 100);  // seldom one job lasts as long
  EXPECT_GT(tally.complete, sets / 2);
  EXPECT_GT(tally.bounded, sets / 5);
  EXPECT_GT(tally.reached, tally.bounded / 2);
  EXPECT_GT(tally.as_a_unit, sets / 50);
  std::cout << tally.complete << " of " << sets << " sets complete; " << tally.reached << " of "
            << tally.bounded << " latencies reached, " << tally.as_a_unit << " of units; "
            << tally.responses_reached << " of " << tally.responses
            << " responses reached; all latencies together " << tally.bounds / tally.found
            << " of the longest runs; " << tally.busy_reached << " of " << tally.busy
            << " busy periods reached\n";
}

class EveryBurstRun : public testing::TestWithParam<std::string> {};

TEST_P(EveryBurstRun, keeps_to_its_bounds) {
  ChainTally tally;
  const int sets = rounds(100);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const ExhaustiveSet set = BurstSets{seed}.draw_bursts(GetParam());
    const application::Application app = application_of(set);
    Exhaustive options = options_of(set);
    options.most_situations = 30'000;
    const Reached reached = reach_all(options, set.tasks);
    const ScenarioReport report =
        analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(set));
    EXPECT_EQ(error_in(set, report, reached), "");
    for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
      EXPECT_EQ(error_in(sim::simulate(app, {.duration = nanoseconds{200},
                                             .seed = seed,
                                             .execution = execution,
                                             .percentiles = false}),
                         reached),
                "");
    }
    compare_busy(set, reached, tally);
    count(set, report, reached, tally);
  }
  EXPECT_GT(tally.complete, sets / 2);
  EXPECT_GT(tally.bounded, sets / 10);
  EXPECT_GT(tally.reached, sets / 20);
  EXPECT_GT(tally.responses_reached, sets / 2);
  std::cout << tally.complete << " of " << sets << " sets complete; " << tally.reached << " of "
            << tally.bounded << " latencies reached, " << tally.responses_reached << " of "
            << tally.responses << " responses\n";
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryBurstRun, testing::Values("fp", "edf", "np-fp", "np-edf"),
                         test::policy_name);
INSTANTIATE_TEST_SUITE_P(Policies, EveryChainRun, testing::Values("fp", "edf", "np-fp", "np-edf"),
                         test::policy_name);

}  // namespace
}  // namespace takt::analysis
