// SPDX-License-Identifier: Apache-2.0
//
// Jobs that wait inside: bounds against what is seen tick by tick, wherever the waiting lies in
// each job.
#include <gtest/gtest.h>

#include "analysis/waiting_search.hpp"

namespace takt::analysis {
namespace {

void compare_random_sets(std::uint64_t seed, int sets, const Form& form, Tally& tally) {
  RandomTasks random{seed - 1 + first_seed()};
  for (int set = 0; set < sets && !testing::Test::HasFailure(); ++set) {
    compare_random_runs(random, random_set(random, 4, 20, form), 40, 100, tally);
  }
}

TEST(suspension, no_response_is_above_its_bound) {
  Tally tally;
  compare_random_sets(21, rounds(200), {}, tally);
  EXPECT_GT(tally.bounded, rounds(400));
  EXPECT_GT(tally.reached, rounds(150));
}

TEST(suspension, bounds_hold_with_equal_priorities) {
  Tally tally;
  compare_random_sets(22, rounds(200), {.equal_priorities = true}, tally);
  EXPECT_GT(tally.bounded, rounds(250));
}

TEST(suspension, bounds_hold_with_groups_below_and_releases_that_are_noticed_late) {
  Tally tally;
  compare_random_sets(23, rounds(100), {.groups = true}, tally);
  compare_random_sets(24, rounds(100), {.equal_priorities = true, .groups = true, .lags = true},
                      tally);
  EXPECT_GT(tally.bounded, rounds(300));
}

TEST(suspension, no_run_of_two_tasks_is_above_the_bounds) {
  RandomTasks random{25 - 1 + first_seed()};
  const Tally tally = compare_every_run(rounds(60), 0, [&](int set) {
    return random_set(random, 2, 6, {.equal_priorities = set % 2 == 0});
  });
  EXPECT_GT(tally.bounded, rounds(90));
}

}  // namespace
}  // namespace takt::analysis
