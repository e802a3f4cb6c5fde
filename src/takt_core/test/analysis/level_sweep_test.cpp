// SPDX-License-Identifier: Apache-2.0
//
// One pass over all levels gives the bounds that each demand has when it is looked at alone.
#include "analysis/level_sweep.hpp"

#include <gtest/gtest.h>

#include "analysis/random_supply.hpp"
#include "analysis/random_tasks.hpp"
#include "takt/analysis/fixed_priority.hpp"

namespace takt::analysis {
namespace {

TEST(LevelSweep, gives_the_bounds_that_each_demand_has_alone) {
  int bounded = 0;
  int unbounded = 0;
  RandomTasks random{5};
  for (int set = 0; set < 20'000; ++set) {
    const std::vector<Demand> demands = draw_levelled_demands(random, true);
    Effort effort;
    const Supply supply = draw_supply(random);
    const auto swept = sweep_levels(demands, effort, supply);
    ASSERT_GT(effort.steps, 0);
    for (std::size_t i = 0; i < demands.size(); ++i) {
      if (swept[i]) {
        const Response single = fixed_priority_response(demands, i, effort, supply);
        ASSERT_EQ(swept[i]->bound, single.bound) << "set " << set;
        ASSERT_EQ(swept[i]->blocking, single.blocking) << "set " << set;
        (single.bound ? bounded : unbounded) += 1;
      }
    }
  }
  EXPECT_GT(bounded, 30'000);
  EXPECT_GT(unbounded, 5'000);
}

}  // namespace
}  // namespace takt::analysis
