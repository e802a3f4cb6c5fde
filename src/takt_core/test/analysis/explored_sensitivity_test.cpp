// SPDX-License-Identifier: Apache-2.0
//
// How much longer jobs may take where the schedules had to be explored, against every run.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "analysis/documents.hpp"
#include "analysis/exhaustive_draw.hpp"

namespace takt::analysis {
namespace {

// Whether every run keeps the deadlines when jobs, or those of one task, take so many times their
// worst case, of which the policy does not know.
bool bears(const ExhaustiveSet& set, double factor, std::optional<std::size_t> only = {}) {
  std::vector<ExhaustiveTask> tasks = set.tasks;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    OracleTask& task = tasks[i].task;
    tasks[i].declared = task.execution;
    if (!only || only == i) {
      task.execution = std::llround(std::ceil(static_cast<double>(task.execution) * factor));
    }
  }
  const Reached reached = reach_all({.rule = set.rule, .until_missed = true}, tasks);
  return reached.complete && !reached.missed;
}

void expect_largest(const ExhaustiveSet& set, double factor, std::optional<std::size_t> only = {}) {
  EXPECT_GE(factor, 1);
  EXPECT_TRUE(bears(set, factor, only)) << factor;
  EXPECT_FALSE(bears(set, factor * 1.001, only)) << factor;
}

TEST(explored_sensitivity, factors_are_the_largest_that_every_run_bears) {
  for (const auto* const policy : {"p-rm", "cw-edf", "np-fp", "np-edf"}) {
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 250 && !HasFailure(); ++seed) {
      const ExhaustiveSet set = ExhaustiveSets{seed}.draw(policy);
      const Report report = analyse(application_of(set), {.proposals = false});
      const ScenarioReport& scenario = report.scenarios.front();
      const bool late =
          std::ranges::any_of(set.tasks, [](const auto& t) { return t.task.lag > 0; });
      if (late || scenario.deadlines != Verdict::meets ||
          !scenario.cores.front().bound_by.starts_with("schedule graph")) {
        continue;
      }
      SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(set));
      ASSERT_TRUE(scenario.sensitivity);
      expect_largest(set, *scenario.sensitivity->all);
      for (std::size_t i = 0; i < set.tasks.size(); ++i) {
        expect_largest(set, scenario.sensitivity->callbacks[i].second, i);
      }
      ++found;
    }
    EXPECT_GT(found, 5) << policy;
  }
}

// Shorter jobs may let others start at a worse time, so a factor below 1 would promise nothing.
TEST(explored_sensitivity, there_is_none_where_deadlines_are_not_kept) {
  const Report report =
      analyse_json(app(timer("a", 10, 3, 3) + "," + timer("b", 20, 18, 1), ", 'policy': 'p-rm'"));
  EXPECT_NE(report.scenarios.front().deadlines, Verdict::meets);
  EXPECT_FALSE(report.scenarios.front().sensitivity);
}

}  // namespace
}  // namespace takt::analysis
