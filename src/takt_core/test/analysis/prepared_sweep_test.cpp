// SPDX-License-Identifier: Apache-2.0
//
// What one pass over prepared releases says is left until deadlines, against each demand alone,
// while execution times change.
#include "analysis/prepared_sweep.hpp"

#include <gtest/gtest.h>

#include "analysis/random_supply.hpp"
#include "analysis/random_tasks.hpp"
#include "takt/analysis/fixed_priority.hpp"

namespace takt::analysis {
namespace {

TEST(PreparedSweep, knows_what_is_left_until_each_deadline) {
  int exact = 0;
  int less = 0;
  int same = 0;  // of those that keep their core
  RandomTasks random{7};
  for (int set = 0; set < 10'000; ++set) {
    std::vector<Demand> demands = draw_levelled_demands(random, random.chance(0.6));
    const std::vector<Demand> declared = demands;
    const Supply supply = draw_supply(random);
    PreparedSweep sweep{declared};
    for (int question = 0; question < 3; ++question) {
      const PreparedSweep::Left left = sweep.look(demands, supply);
      for (std::size_t i = 0; i < demands.size(); ++i) {
        if (!left[i]) {
          continue;
        }
        Effort effort;
        const Response single = fixed_priority_response(demands, i, effort, supply);
        ASSERT_TRUE(single.bound) << "set " << set;
        const nanoseconds expected = demands[i].deadline - *single.bound;
        if (demands[i].ceiling <= demands[i].level) {
          ASSERT_EQ(*left[i], expected) << "set " << set;
          ++exact;
        } else {
          ASSERT_LE(*left[i], expected) << "set " << set;
          (*left[i] == expected ? same : less) += 1;
        }
      }
      for (std::size_t i = 0; i < demands.size(); ++i) {
        demands[i].execution = nanoseconds{random.number(0, 2 * declared[i].execution.count() + 1)};
      }
    }
  }
  EXPECT_GT(exact, 20'000);
  EXPECT_GT(less, 1'000);
  EXPECT_GT(same, 3'000);
}

}  // namespace
}  // namespace takt::analysis
