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

std::vector<Demand> draw_demands(RandomTasks& random) {
  std::vector<Demand> demands;
  const auto count = random.number(1, 12);
  const auto levels = random.number(1, count);
  for (std::int64_t i = 0; i < count; ++i) {
    Demand demand = draw_demand(random, i, count, 2);
    demand.level = static_cast<sched::Level>(random.number(1, levels));
    if (random.chance(0.2)) {
      demand.ceiling = static_cast<sched::Level>(random.number(1, levels));
    }
    demands.push_back(demand);
  }
  return demands;
}

TEST(LevelSweep, gives_the_bounds_that_each_demand_has_alone) {
  int bounded = 0;
  int unbounded = 0;
  RandomTasks random{5};
  for (int set = 0; set < 20'000; ++set) {
    const std::vector<Demand> demands = draw_demands(random);
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
