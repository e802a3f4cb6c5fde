// SPDX-License-Identifier: Apache-2.0
//
// Bounds that count the waiting of some demands as blocking, against runs tick by tick.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/waiting_search.hpp"

namespace takt::analysis {
namespace {

std::vector<Response> responses_of(const std::vector<Demand>& demands) {
  Effort effort;
  return fixed_priority_responses(demands, effort);
}

int by_blocking(const std::vector<WaitingTask>& tasks) {
  return static_cast<int>(
      std::ranges::count(responses_of(demands_of(tasks)), By::suspension, &Response::by));
}

// At random, until one has a bound by blocking.
std::vector<WaitingTask> random_blocking_set(RandomTasks& random, std::int64_t most_tasks,
                                             std::int64_t most_period, const Form& form = {}) {
  for (;;) {
    auto tasks = random_set(random, most_tasks, most_period, form);
    if (by_blocking(tasks) > 0) {
      return tasks;
    }
  }
}

// The second one ends up to 14 after its release, 11 later than it can, but waits 1: as jitter two
// of its jobs come before the third one.
TEST(suspension_choice, a_short_wait_costs_less_than_late_work) {
  auto tasks =
      std::vector<WaitingTask>{{.execution = 10, .period = 40, .priority = 3},
                               {.execution = 3, .suspension = 1, .period = 24, .priority = 2},
                               {.execution = 4, .period = 60, .priority = 1}};
  const auto responses = responses_of(demands_of(tasks));
  EXPECT_EQ(responses[1].bound, nanoseconds{14});
  EXPECT_EQ(responses[2].bound, nanoseconds{17});
  EXPECT_EQ(responses[2].by, By::suspension);
  EXPECT_EQ(responses[1].by, By::test);
}

TEST(suspension_choice, it_needs_priorities_that_preempt_freely_and_one_job_at_a_time) {
  const std::vector<WaitingTask> tasks = {
      {.execution = 10, .period = 40, .priority = 3},
      {.execution = 3, .suspension = 1, .period = 24, .priority = 2},
      {.execution = 4, .period = 60, .priority = 1}};
  const auto of_third = [](const std::vector<Demand>& demands) {
    return responses_of(demands)[2].by;
  };
  auto group = demands_of(tasks);
  group[2].ceiling = 3;
  EXPECT_EQ(of_third(group), By::test);
  auto two_at_a_time = demands_of(tasks);
  two_at_a_time[1].releases.period = nanoseconds{13};
  EXPECT_EQ(of_third(two_at_a_time), By::test);
  auto equal = tasks;
  equal.push_back({.execution = 1, .period = 1000, .priority = 2});
  EXPECT_EQ(of_third(demands_of(equal)), By::test);
  auto limited = demands_of(tasks);
  Effort effort;
  const Supply supply{
      {.supply = application::Supply{.budget = nanoseconds{99}, .period = nanoseconds{100}}}};
  EXPECT_EQ(fixed_priority_responses(limited, effort, supply)[2].by, By::test);
}

TEST(suspension_choice, no_response_of_random_runs_is_above_its_bound) {
  RandomTasks random{41 - 1 + first_seed()};
  Tally tally;
  for (int set = 0; set < rounds(60) && !HasFailure(); ++set) {
    const auto tasks = random_blocking_set(random, 5, 24, {.lags = set % 3 == 0});
    compare_random_runs(random, tasks, 60, 120, tally);
  }
  EXPECT_GT(tally.reached, rounds(60));
}

// How many runs there are for AllRuns.
double runs_of(const std::vector<WaitingTask>& tasks) {
  double result = 2;
  for (const WaitingTask& task : tasks) {
    const auto plans = static_cast<double>(all_plans(task).size());
    result *= static_cast<double>(task.period) * plans * plans;
  }
  return result;
}

TEST(suspension_choice, no_run_of_three_tasks_is_above_the_bounds) {
  RandomTasks random{42 - 1 + first_seed()};
  Tally tally;
  for (int set = 0; set < rounds(6);) {
    const auto tasks = random_blocking_set(random, 3, 12);
    if (runs_of(tasks) > 200'000) {
      continue;
    }
    ++set;
    SCOPED_TRACE(describe(tasks));
    const Bounds bounds = bounds_of(demands_of(tasks));
    const auto longest = AllRuns{tasks}.run();
    expect_within(bounds, longest);
    if (HasFailure()) {
      return;
    }
    count(bounds, longest, tally);
  }
  EXPECT_GT(tally.reached, rounds(6));
}

}  // namespace
}  // namespace takt::analysis
