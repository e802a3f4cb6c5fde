// SPDX-License-Identifier: Apache-2.0
//
// Chains that come back to their cores, against all that can happen on these (docs/reference/
// analysis.md, eq. 42). By hand as exhaustive_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>

#include "../policies.hpp"
#include "analysis/core_bounds.hpp"
#include "analysis/random_tasks.hpp"

namespace takt::analysis {
namespace {

// A chain that comes back to a core while earlier releases are on their way, and up to two timers
// beside it.
class ReturningSets : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  std::vector<CoreTask> draw() {
    return draw_until_schedulable([this] { return draw_once(); });
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

void compare(const std::vector<CoreTask>& tasks, const std::string& policy, ReturningTally& tally) {
  const auto count = [&](std::size_t task, const BoundedTask& one, const CoresReached& reached) {
    if (!one.latency.bound || !reached.complete) {
      return;
    }
    const bool in_order = one.latency.by == By::subchain_returns;
    const bool is_reached = reached.latencies[task] == one.latency.bound->count();
    ++tally.bounds;
    tally.in_order += in_order ? 1 : 0;
    tally.reached += is_reached ? 1 : 0;
    tally.in_order_reached += in_order && is_reached ? 1 : 0;
  };
  tally.complete += hold_on_cores(tasks, policy, 20'000, count) ? 1 : 0;
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
