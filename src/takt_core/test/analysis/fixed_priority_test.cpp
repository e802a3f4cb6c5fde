// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/fixed_priority.hpp"

#include <gtest/gtest.h>

#include "analysis/oracle.hpp"
#include "analysis/random_tasks.hpp"

namespace takt::analysis {
namespace {

std::vector<std::int64_t> bounds_of(Rule rule, const std::vector<OracleTask>& tasks) {
  Effort effort;
  std::vector<std::int64_t> result;
  for (const Response& response : fixed_priority_responses(demands_of(rule, tasks), effort)) {
    result.push_back(response.bound ? response.bound->count() : -1);
  }
  return result;
}

Observed synchronous(Rule rule, const std::vector<OracleTask>& tasks) {
  std::vector<OracleJob> jobs;
  const std::int64_t end = 2 * hyperperiod(tasks);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    add_periodic(jobs, tasks, i, 0, end);
  }
  return observe(rule, tasks, jobs);
}

bool all_meet(const std::vector<OracleTask>& tasks, const std::vector<std::int64_t>& bounds) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (bounds[i] < 0 || bounds[i] > tasks[i].deadline) {
      return false;
    }
  }
  return true;
}

// The example that response-time analysis is commonly taught by: Burns & Wellings, Real-Time
// Systems and Programming Languages: (C, T) = (3, 7), (3, 12), (5, 20) respond after 3, 6 and 20.
TEST(fixed_priority, example_of_burns_and_wellings) {
  const std::vector<OracleTask> tasks = {
      {.execution = 3, .period = 7, .deadline = 7, .priority = 3},
      {.execution = 3, .period = 12, .deadline = 12, .priority = 2},
      {.execution = 5, .period = 20, .deadline = 20, .priority = 1}};
  EXPECT_EQ(bounds_of(Rule::fp, tasks), (std::vector<std::int64_t>{3, 6, 20}));
}

// Lehoczky 1990: (C, T) = (26, 70), (62, 100): the fifth job of the second task in the busy period
// responds last, after 118; the first one after 114.
TEST(fixed_priority, lehoczky_1990_later_jobs_of_the_busy_period_may_be_the_worst) {
  const std::vector<OracleTask> tasks = {
      {.execution = 26, .period = 70, .deadline = 70, .priority = 2},
      {.execution = 62, .period = 100, .deadline = 120, .priority = 1}};
  EXPECT_EQ(bounds_of(Rule::fp, tasks), (std::vector<std::int64_t>{26, 118}));
}

// Davis, Burns, Bril & Lukkien 2007, the three messages that refute the test of 1994 (their Table
// 1): C = 1 each, T = 2.5, 3.5, 3.5, D = 2.5, 3.25, 3.25; the third one responds after 3.5, which
// its second job in the busy period shows, the first one having 3.
TEST(fixed_priority, davis_2007_the_second_message_of_the_busy_period_is_late) {
  const std::vector<OracleTask> tasks = {
      {.execution = 1000, .period = 2500, .deadline = 2500, .priority = 3},
      {.execution = 1000, .period = 3500, .deadline = 3250, .priority = 2},
      {.execution = 1000, .period = 3500, .deadline = 3250, .priority = 1}};
  // Blocking is one tick shorter than a message: it has begun a tick before.
  EXPECT_EQ(bounds_of(Rule::np_fp, tasks), (std::vector<std::int64_t>{1999, 2999, 3500}));
}

TEST(fixed_priority, preemptive_bounds_are_what_the_synchronous_run_shows) {
  RandomTasks random{1};
  for (int round = 0; round < 3000; ++round) {
    const auto tasks = random.tasks({.most_deadline = 2});
    EXPECT_EQ(bounds_of(Rule::fp, tasks), synchronous(Rule::fp, tasks).responses) << text(tasks);
  }
}

TEST(fixed_priority, quick_verdict_agrees_with_the_bounds) {
  RandomTasks random{2};
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto tasks = random.tasks(
        {.most_deadline = 1.5, .equal_priorities = round % 2 == 0, .groups = round % 3 == 0});
    const Rule rule = round % 5 == 0 ? Rule::np_fp : Rule::fp;
    Effort effort;
    const bool accepts = fixed_priority_accepts(demands_of(rule, tasks), effort);
    EXPECT_EQ(accepts, all_meet(tasks, bounds_of(rule, tasks))) << text(tasks);
    accepted += accepts ? 1 : 0;
  }
  EXPECT_GT(accepted, 300);
  EXPECT_LT(accepted, 2700);
}

// Whatever the offsets, and however late releases are noticed.
void expect_bounds_hold(Rule rule, const std::vector<OracleTask>& tasks, std::int64_t most_lag,
                        RandomTasks& random) {
  std::vector<Demand> demands = demands_of(rule, tasks);
  for (Demand& demand : demands) {
    demand.lag = nanoseconds{random.number(0, most_lag)};
  }
  Effort effort;
  const auto bounds = fixed_priority_responses(demands, effort);
  for (int run = 0; run < 6; ++run) {
    const auto jobs = random_jobs(random, tasks, demands, run == 0);
    const Observed observed = observe(rule, tasks, jobs);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      ASSERT_TRUE(bounds[i].bound) << text(tasks);
      EXPECT_LE(observed.responses[i], bounds[i].bound->count()) << text(tasks) << "task " << i;
    }
  }
}

TEST(fixed_priority, bounds_hold_with_groups_equal_priorities_and_lags) {
  RandomTasks random{3};
  for (int round = 0; round < 2000; ++round) {
    expect_bounds_hold(round % 2 == 0 ? Rule::fp : Rule::np_fp,
                       random.tasks({.most_utilization = 0.95,
                                     .most_deadline = 2,
                                     .equal_priorities = round % 3 == 0,
                                     .groups = true}),
                       round % 4 == 0 ? 6 : 0, random);
  }
}

// A run in which the bound of a task is reached: the longest job that can keep it waiting has just
// begun when everything above it is released.
TEST(fixed_priority, bounds_with_groups_and_without_preemption_are_reached) {
  RandomTasks random{4};
  int reached = 0;
  int looked_at = 0;
  for (int round = 0; round < 1500; ++round) {
    const Rule rule = round % 2 == 0 ? Rule::np_fp : Rule::fp;
    const auto tasks = random.tasks({.most_deadline = 1.5, .groups = rule == Rule::fp});
    const auto bounds = bounds_of(rule, tasks);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      std::int64_t longest = 0;
      for (std::size_t blocker = 0; blocker < tasks.size(); ++blocker) {
        if (blocker != i && tasks[blocker].priority > tasks[i].priority) {
          continue;
        }
        std::vector<OracleJob> jobs;
        if (blocker != i) {
          jobs.push_back({.task = blocker, .release = 0, .noticed = 0});
        }
        for (std::size_t j = 0; j < tasks.size(); ++j) {
          if (tasks[j].priority >= tasks[i].priority) {
            add_periodic(jobs, tasks, j, 1, 2 * hyperperiod(tasks));
          }
        }
        longest = std::max(longest, observe(rule, tasks, jobs).responses[i]);
      }
      EXPECT_EQ(longest, bounds[i]) << text(tasks) << "task " << i;
      reached += longest == bounds[i] ? 1 : 0;
      ++looked_at;
    }
  }
  EXPECT_EQ(reached, looked_at);
}

TEST(fixed_priority, a_level_that_is_overloaded_has_no_bound_and_those_above_keep_theirs) {
  const std::vector<OracleTask> tasks = {
      {.execution = 3, .period = 5, .deadline = 5, .priority = 2},
      {.execution = 3, .period = 6, .deadline = 6, .priority = 1}};
  EXPECT_EQ(bounds_of(Rule::fp, tasks), (std::vector<std::int64_t>{3, -1}));
}

TEST(fixed_priority, a_full_core_has_bounds) {
  const std::vector<OracleTask> tasks = {
      {.execution = 2, .period = 4, .deadline = 4, .priority = 2},
      {.execution = 4, .period = 8, .deadline = 8, .priority = 1}};
  EXPECT_EQ(bounds_of(Rule::fp, tasks), (std::vector<std::int64_t>{2, 8}));
}

}  // namespace
}  // namespace takt::analysis
