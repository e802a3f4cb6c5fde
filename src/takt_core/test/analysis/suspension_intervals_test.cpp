// SPDX-License-Identifier: Apache-2.0
//
// Bounds of jobs that wait a known number of times, against runs tick by tick.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "analysis/waiting_search.hpp"

namespace takt::analysis {
namespace {

std::vector<Response> responses_of(const std::vector<WaitingTask>& tasks) {
  Effort effort;
  return fixed_priority_responses(demands_of(tasks), effort);
}

int by_intervals(const std::vector<WaitingTask>& tasks) {
  return static_cast<int>(std::ranges::count(responses_of(tasks), By::intervals, &Response::by));
}

// At random, until one has such a bound.
std::vector<WaitingTask> random_interval_set(RandomTasks& random, std::int64_t most_tasks,
                                             std::int64_t most_period, const Form& form) {
  for (;;) {
    auto tasks = random_set(random, most_tasks, most_period, form);
    if (by_intervals(tasks) > 0) {
      return tasks;
    }
  }
}

// It waits for 60, in which the first one needs 30: but not of its time.
TEST(suspension_intervals, nothing_delays_a_job_that_waits) {
  auto tasks =
      std::vector<WaitingTask>{{.execution = 5, .period = 10, .priority = 2},
                               {.execution = 2, .suspension = 60, .period = 200, .priority = 1}};
  ASSERT_EQ(*responses_of(tasks)[1].bound, nanoseconds{124 + 3});
  tasks[1].suspensions = 1;
  // Each part of its 2 meets one job of the first one, and no more if the other part is empty.
  EXPECT_EQ(*responses_of(tasks)[1].bound, nanoseconds{60 + 2 + 2 * 5});
  EXPECT_EQ(responses_of(tasks)[1].by, By::intervals);
}

TEST(suspension_intervals, are_not_known_without_the_number_of_waits) {
  const std::vector<WaitingTask> tasks = {
      {.execution = 5, .period = 10, .priority = 2},
      {.execution = 2, .suspension = 60, .period = 200, .priority = 1}};
  EXPECT_EQ(by_intervals(tasks), 0);
}

TEST(suspension_intervals, no_response_of_random_runs_is_above_its_bound) {
  RandomTasks random{41 - 1 + first_seed()};
  Tally tally;
  int better = 0;
  for (int set = 0; set < rounds(300) && !HasFailure(); ++set) {
    const Form form{
        .equal_priorities = set % 3 == 0, .groups = set % 5 == 0, .lags = set % 2 == 0, .waits = 2};
    const auto tasks = random_interval_set(random, 4, 20, form);
    better += by_intervals(tasks);
    compare_random_runs(random, tasks, 60, 120, tally);
  }
  std::cout << better << " of " << tally.bounded << " bounds by intervals, " << tally.reached
            << " reached\n";
  EXPECT_GT(tally.reached, rounds(100));
}

TEST(suspension_intervals, no_run_of_two_tasks_is_above_the_bounds) {
  RandomTasks random{42 - 1 + first_seed()};
  const Tally tally = compare_every_run(rounds(60), 2, [&](int set) {
    return random_interval_set(random, 2, 7,
                               {.equal_priorities = set % 3 == 0, .waits = 1 + set % 2});
  });
  EXPECT_GT(tally.bounded, rounds(90));
}

// Whether the number of waits is known or not: the bound is never longer with it.
TEST(suspension_intervals, are_never_above_the_bound_without_them) {
  RandomTasks random{43 - 1 + first_seed()};
  expect_never_above_the_bound_without(
      rounds(1000), [&] { return random_set(random, 5, 60, {.waits = 3}); },
      [](WaitingTask& task) { task.suspensions = 0; });
}

}  // namespace
}  // namespace takt::analysis
