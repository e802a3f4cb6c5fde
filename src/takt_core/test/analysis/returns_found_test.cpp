// SPDX-License-Identifier: Apache-2.0
//
// Chains that come back to their cores: sets that a search found, each of which has a run above its
// bound if one condition of eq. 42 (docs/reference/analysis.md) is left out.
#include <gtest/gtest.h>

#include <string>

#include "analysis/core_bounds.hpp"

namespace takt::analysis {
namespace {

// From the timer's release to the end of a task: the longest of all runs, and the bound.
struct Latency {
  std::int64_t longest = 0;
  std::int64_t bound = 0;
};
Latency latency(const std::string& policy, const std::vector<CoreTask>& tasks, std::size_t task) {
  Latency result;
  const auto keep = [&](std::size_t i, const BoundedTask& bounds, const CoresReached& reached) {
    if (i == task) {
      result = {.longest = reached.latencies[i],
                .bound = bounds.latency.bound.value_or(never).count()};
    }
  };
  EXPECT_TRUE(hold_on_cores(tasks, policy, 100'000, keep));
  return result;
}

// The first job of the chain blocks the timer, which then comes twice before the chain's second
// job on this core.
TEST(returns, come_after_an_earlier_part_has_blocked_others) {
  const Latency found =
      latency("np-fp",
              {{.core = 0, .period = 16, .best = 6, .worst = 6, .priority = 1},
               {.core = 1, .before = 0, .period = 16, .best = 0, .worst = 1, .priority = 5},
               {.core = 0, .before = 1, .period = 16, .best = 2, .worst = 2, .priority = 3},
               {.core = 0, .period = 5, .best = 2, .worst = 2, .priority = 4}},
              2);
  EXPECT_EQ(found.longest, 14);
  EXPECT_EQ(found.bound, 15);
}

// One of an earlier release comes back just when the next one is released, as late as it may.
TEST(returns, count_that_come_in_the_moment_in_which_a_busy_period_begins) {
  const Latency found =
      latency("fp",
              {{.core = 0, .period = 6, .best = 0, .worst = 2, .priority = 3},
               {.core = 1, .before = 0, .period = 6, .best = 4, .worst = 4, .priority = 2},
               {.core = 0, .before = 1, .period = 6, .best = 0, .worst = 1, .priority = 4},
               {.core = 0, .before = 1, .period = 6, .best = 2, .worst = 2, .priority = 1}},
              0);
  EXPECT_EQ(found.longest, 3);
  EXPECT_EQ(found.bound, 3);
}

// In the moment in which the chain's first job has published and not ended, a job of another chain
// comes from core 0. It keeps the first job from its end until the chain is back, and preempts it.
TEST(returns, come_to_a_job_that_another_chain_keeps_from_its_end) {
  const std::vector<CoreTask> tasks = {
      {.core = 1, .period = 9, .best = 0, .worst = 1, .priority = 1},
      {.core = 0, .before = 0, .period = 9, .best = 1, .worst = 1, .priority = 1},
      {.core = 1, .before = 1, .period = 9, .best = 2, .worst = 2, .priority = 2},
      {.core = 0, .period = 9, .best = 0, .worst = 1, .priority = 2},
      {.core = 1, .before = 3, .period = 9, .best = 2, .worst = 2, .priority = 3}};
  const Latency found = latency("fp", tasks, 0);
  EXPECT_EQ(found.longest, 4);
  EXPECT_EQ(found.bound, 5);
}

}  // namespace
}  // namespace takt::analysis
