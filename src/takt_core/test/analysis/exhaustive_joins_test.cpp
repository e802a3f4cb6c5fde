// SPDX-License-Identifier: Apache-2.0
//
// Chains through a join, and ages of what it publishes, against all that can happen on one core:
// two timers, the two callbacks of a join that their messages release, and a callback that what it
// publishes releases. A timer reads what the join, or that callback, publishes. With two joins this
// callback belongs to the second, beside one that a timer releases. Beside all that there may be a
// timer, mostly a less urgent one, in the group of another. By hand as exhaustive_test.cpp.
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

// Who releases a callback, and to which join it belongs.
struct Place {
  std::vector<std::size_t> writers;
  std::size_t join = 0;
};
const std::vector<Place> one_join = {{{}}, {{}}, {{0}, 1}, {{1}, 1}, {{2, 3}}};
const std::vector<Place> behind_each_other = {{{}},     {{}},        {{0}, 1},
                                              {{1}, 1}, {{2, 3}, 2}, {{1}, 2}};

class JoinSets : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  ExhaustiveSet draw(const std::string& policy, bool two_joins, bool other = false) {
    for (;;) {
      ExhaustiveSet set = two_joins ? draw_once(policy, behind_each_other, 8, 24)
                                    : draw_once(policy, one_join, other ? 8 : 4, 12);
      if (other) {
        add_other(set);
      }
      std::vector<OracleTask> tasks;
      std::ranges::transform(set.tasks, std::back_inserter(tasks), &ExhaustiveTask::task);
      if (utilization(tasks) < 1) {
        return set;
      }
    }
  }

 private:
  // A timer that nothing else has to do with, but for its group.
  void add_other(ExhaustiveSet& set) {
    const auto join = static_cast<std::size_t>(number(0, 4));
    OracleTask& other = set.tasks.emplace_back().task;
    other.execution = number(1, 3);
    other.best = chance(0.5) ? number(1, other.execution) : other.execution;
    other.period = chance(0.5) ? set.tasks.front().task.period : set.tasks[1].task.period;
    other.deadline = number(1, 3 * other.period);
    other.offset = number(0, other.period - 1);
    other.priority = static_cast<int>(number(1, chance(0.8) ? 2 : 6));
    if (set.rule == Rule::fp && chance(0.5)) {
      other.group = set.tasks[join].task.group = 1;
    }
  }

  ExhaustiveSet draw_once(const std::string& policy, const std::vector<Place>& places,
                          std::int64_t shortest, std::int64_t longest) {
    ExhaustiveSet set{.policy = policy, .rule = rule_of(policy), .tasks = {}};
    const bool anywhere = chance(0.5);
    const std::int64_t first = number(shortest, longest);
    const std::int64_t second = chance(0.4) ? first : number(shortest, longest);
    for (const Place& place : places) {
      const std::size_t i = set.tasks.size();
      ExhaustiveTask& entry = set.tasks.emplace_back();
      OracleTask& task = entry.task;
      task.execution = chance(0.6) ? 1 : number(2, 3);
      task.best = chance(0.5) ? number(1, task.execution) : task.execution;
      task.period = i >= 4 ? std::max(first, second) : i % 2 == 0 ? first : second;
      task.deadline = number(1, 3 * task.period);
      task.priority = static_cast<int>(number(1, 6));
      if (place.writers.empty()) {
        task.offset = number(0, task.period - 1);
      } else {
        entry.trigger = {.writers = place.writers, .depth = 4};
      }
      entry.join = place.join;
      entry.anywhere = anywhere && chance(0.7);
    }
    if (first == second && chance(0.5)) {  // always released together
      set.tasks[1].task.offset = set.tasks[0].task.offset;
    }
    for (std::size_t i = 0; i < places.size(); i += 2) {
      set.chain.push_back(i);
    }
    if (chance(0.5)) {
      ExhaustiveTask& reader = set.tasks[static_cast<std::size_t>(number(0, 1))];
      const bool behind = chance(0.5);
      reader.reads.push_back({.writers = {2, 3}, .depth = 1});
      if (behind) {  // what the last of them publish
        reader.reads.back().writers = {4};
        if (places.size() == 6) {
          reader.reads.back().writers.push_back(5);
        }
      }
      // They come before who limits the age.
      for (std::size_t i = 2; i < (behind ? places.size() : 4U); ++i) {
        set.tasks[i].task.priority = std::max(set.tasks[i].task.priority, reader.task.priority);
      }
    }
    return set;
  }
};

struct JoinTally {
  int complete = 0;
  int bounded = 0;    // latencies
  int of_path = 0;    // of these, by the busy periods on the way
  int reached = 0;    // of these
  int beyond = 0;     // of these, above the bound without the busy period behind the join
  double bounds = 0;  // the sum of these, and of the longest runs
  double found = 0;
  double nearest = 0;    // the largest share that is reached
  int ages = 0;          // with a bound
  int ages_of_path = 0;  // of these, by busy periods
  int oldest = 0;        // of all, reached
  double age_bounds = 0;
  double ages_found = 0;
};

void count_ages(const ExhaustiveSet& set, const ScenarioReport& report, const Reached& reached,
                JoinTally& tally) {
  for (const AgeReport& age : report.ages) {
    for (std::size_t i = 0; i < set.tasks.size(); ++i) {
      if (name_of(i) != age.callback || !reached.complete || reached.ages[i].front() < 0 ||
          !age.age) {
        continue;
      }
      ++tally.ages;
      tally.ages_of_path += age.bound_by.starts_with("longest busy period") ? 1 : 0;
      tally.oldest += reached.ages[i].front() == age.age->count() ? 1 : 0;
      tally.age_bounds += static_cast<double>(age.age->count());
      tally.ages_found += static_cast<double>(reached.ages[i].front());
    }
  }
}

// How long the core may be busy; 0: no bound.
std::int64_t busy_of(const ExhaustiveSet& set) {
  const application::Application app = application_of(set);
  const sched::CompiledStrategy strategy = application::compile(app);
  ScenarioModel model{app, strategy, strategy.scenarios().front()};
  Effort effort;
  model.solve(effort, Graphs::none);
  return model.longest_busy(0).value_or(nanoseconds{0}).count();
}

void count(const ExhaustiveSet& set, const ChainReport& chain, const Reached& reached,
           JoinTally& tally) {
  tally.complete += reached.complete ? 1 : 0;
  if (!reached.complete || !chain.latency || reached.latency <= 0) {
    return;
  }
  ++tally.bounded;
  if (!chain.bound_by.starts_with("longest busy period")) {
    return;
  }
  const auto bound = static_cast<double>(chain.latency->count());
  const auto found = static_cast<double>(reached.latency);
  ++tally.of_path;
  tally.reached += bound == found ? 1 : 0;
  tally.beyond += reached.latency > chain.latency->count() - busy_of(set) ? 1 : 0;
  tally.bounds += bound;
  tally.found += found;
  tally.nearest = std::max(tally.nearest, found / bound);
}

// All that can happen, and two simulations, against the bounds.
void check(const ExhaustiveSet& set, std::uint64_t seed, JoinTally& tally) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(set));
  Exhaustive options = options_of(set);
  options.most_situations = 30'000;
  const Reached reached = reach_all(options, set.tasks);
  const application::Application app = application_of(set);
  const ScenarioReport report =
      analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
  EXPECT_EQ(error_in(set, report, reached), "");
  for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
    const sim::Result run = sim::simulate(
        app,
        {.duration = nanoseconds{300}, .seed = seed, .execution = execution, .percentiles = false});
    EXPECT_EQ(error_in(run, reached), "");
  }
  count(set, report.chains.front(), reached, tally);
  count_ages(set, report, reached, tally);
}

void print(const JoinTally& tally, int sets) {
  std::cout << tally.complete << " of " << sets << " sets complete; " << tally.bounded
            << " latencies bounded, " << tally.of_path << " by busy periods; of these "
            << tally.reached << " reached, " << tally.nearest << " of a bound at most, "
            << tally.found / tally.bounds << " in all; " << tally.beyond
            << " above the bound without the busy period behind the join; " << tally.ages
            << " ages bounded, " << tally.ages_of_path << " by busy periods, " << tally.oldest
            << " reached, " << tally.ages_found / tally.age_bounds << " in all\n";
}

class EveryJoinRun : public testing::TestWithParam<std::string> {};

TEST_P(EveryJoinRun, keeps_to_its_bounds) {
  JoinTally tally;
  const int sets = rounds(200);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    check(JoinSets{seed}.draw(GetParam(), false), seed, tally);
  }
  EXPECT_EQ(tally.complete, sets);
  EXPECT_GT(tally.bounded, sets * 3 / 4);
  EXPECT_GT(tally.of_path, sets / 2);
  EXPECT_GT(tally.ages, sets / 4);
  EXPECT_GT(tally.ages_of_path, sets / 20);
  EXPECT_GE(tally.reached, tally.of_path / 50);
  EXPECT_GT(tally.beyond, tally.of_path / 10);
  print(tally, sets);
}

TEST_P(EveryJoinRun, keeps_to_its_bounds_with_two_joins) {
  JoinTally tally;
  const int sets = rounds(100);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    check(JoinSets{seed}.draw(GetParam(), true), seed, tally);
  }
  EXPECT_GT(tally.complete, sets / 2);
  EXPECT_GT(tally.bounded, sets / 4);
  EXPECT_GT(tally.of_path, sets / 8);
  print(tally, sets);
}

// The busy periods of the levels of the join.
class EveryJoinRunByLevel : public EveryJoinRun {};

TEST_P(EveryJoinRunByLevel, keeps_to_its_bounds_beside_another) {
  JoinTally tally;
  const int sets = rounds(200);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    check(JoinSets{seed}.draw(GetParam(), false, true), seed, tally);
  }
  EXPECT_GT(tally.complete, sets * 3 / 4);
  EXPECT_GT(tally.of_path, sets / 2);
  EXPECT_GT(tally.reached, 0);
  print(tally, sets);
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryJoinRunByLevel, testing::Values("fp", "np-fp"),
                         test::policy_name);
INSTANTIATE_TEST_SUITE_P(Policies, EveryJoinRun, testing::Values("fp", "edf", "np-fp", "np-edf"),
                         test::policy_name);

}  // namespace
}  // namespace takt::analysis
