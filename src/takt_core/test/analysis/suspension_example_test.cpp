// SPDX-License-Identifier: Apache-2.0
//
// Jobs that wait inside: what the papers say about their examples, and one run for each way in
// which a simpler bound would be wrong.
#include <gtest/gtest.h>

#include <iterator>

#include "analysis/waiting_sets.hpp"

namespace takt::analysis {
namespace {

// C, S, T = (1, 0, 2), (5, 5, 20), (1, 0, never): with the waiting alone as jitter the third task
// would respond after 12, but the second one can put all but two of its jobs before it, which makes
// 22. The kind of example by which Nelissen et al. 2015 and Chen et al. 2019 refute that bound.
// Here a unit is 100 ticks, so that a job can compute for a moment only between two times of
// waiting.
TEST(suspension_example, the_waiting_alone_is_too_small_a_jitter) {
  const std::vector<WaitingTask> tasks = {
      {.execution = 100, .period = 200, .priority = 3},
      {.execution = 500, .suspension = 500, .period = 2000, .priority = 2},
      {.execution = 100, .period = 100'000, .priority = 1}};
  EXPECT_EQ(bounds_of(demands_of(tasks)), (Bounds{100, 2000, 2200}));
  auto flawed = demands_of(tasks);
  flawed[1].lag += flawed[1].suspension;
  flawed[1].waits = false;
  EXPECT_EQ(bounds_of(flawed).back(), 1200);
  // Five times it comes back together with the first task, and computes for one tick.
  std::vector<bool> late;
  for (int i = 0; i < 5; ++i) {
    std::ranges::copy(plan(1, 99), std::back_inserter(late));
  }
  std::ranges::copy(plan(495, 5), std::back_inserter(late));
  std::vector<WaitingJob> jobs = {
      {.task = 1, .release = 0, .noticed = 0, .computes = late},
      {.task = 1, .release = 2000, .noticed = 2000, .computes = plan(500, 500)},
      {.task = 2, .release = 1000, .noticed = 1000, .computes = plan(100, 0)}};
  for (std::int64_t time = 0; time < 4000; time += 200) {
    jobs.push_back({.task = 0, .release = time, .noticed = time, .computes = plan(100, 0)});
  }
  EXPECT_EQ(observe_waiting(tasks, jobs, [] { return false; }).back(), 2195);
}

TEST(suspension_example, a_job_that_waits_holds_up_those_below_by_its_computing_alone) {
  const std::vector<WaitingTask> tasks = {
      {.execution = 1, .suspension = 50, .period = 100, .priority = 2},
      {.execution = 2, .period = 10, .priority = 1}};
  EXPECT_EQ(bounds_of(demands_of(tasks)), (Bounds{51, 3}));
}

// Each time that it comes back it may find another job that holds the ceiling above it.
TEST(suspension_example, a_waiting_job_can_be_blocked_more_than_once) {
  const std::vector<WaitingTask> tasks = {
      {.execution = 2, .suspension = 1, .period = 100, .priority = 2},
      {.execution = 1, .period = 1000, .priority = 3, .group = 1},
      {.execution = 3, .period = 60, .priority = 1, .group = 1},
      {.execution = 3, .period = 60, .priority = 1, .group = 1}};
  const std::vector<WaitingJob> jobs = {
      {.task = 2, .release = 0, .noticed = 0, .computes = plan(3, 0)},
      {.task = 0, .release = 1, .noticed = 1, .computes = plan(1, 1, 1)},
      {.task = 3, .release = 1, .noticed = 1, .computes = plan(3, 0)}};
  const std::int64_t response = observe_waiting(tasks, jobs, [] { return false; }).front();
  auto blocked_once = demands_of(tasks);
  blocked_once[0].waits = false;
  blocked_once[0].execution += blocked_once[0].suspension;
  EXPECT_EQ(response, 2 + 1 + 2 + 2);
  EXPECT_GT(response, bounds_of(blocked_once).front());
  EXPECT_LE(response, bounds_of(demands_of(tasks)).front());
}

// A job below that was held up for long starts while this one waits, and so does the next one soon
// afterwards: both are in the way, though their releases are further apart than that.
TEST(suspension_example, jobs_below_that_were_held_up_can_be_in_the_way_together) {
  const std::vector<WaitingTask> tasks = {
      {.execution = 2, .suspension = 1, .period = 100, .priority = 3},
      {.execution = 1, .period = 1000, .priority = 4, .group = 1},
      {.execution = 8, .period = 100, .priority = 2},
      {.execution = 4, .period = 10, .priority = 1, .group = 1}};
  const std::vector<WaitingJob> jobs = {
      {.task = 2, .release = 0, .noticed = 0, .computes = plan(8, 0)},
      {.task = 3, .release = 0, .noticed = 0, .computes = plan(4, 0)},
      {.task = 0, .release = 9, .noticed = 9, .computes = plan(1, 1, 1)},
      {.task = 3, .release = 10, .noticed = 10, .computes = plan(4, 0)}};
  const std::int64_t response = observe_waiting(tasks, jobs, [] { return false; }).front();
  EXPECT_EQ(response, 2 + 1 + 3 + 3);
  // One job of each in the way would be less.
  EXPECT_GT(response, 2 + 1 + 1 + 4);
  EXPECT_LE(response, bounds_of(demands_of(tasks)).front());
}

// What is above all that wait knows nothing of it.
TEST(suspension_example, what_is_above_all_that_wait_is_as_without) {
  RandomTasks random{26};
  for (int set = 0; set < 200; ++set) {
    auto tasks = random_set(random, 4, 20, {});
    const Bounds with = bounds_of(demands_of(tasks));
    int lowest = 0;
    for (WaitingTask& task : tasks) {
      lowest = task.suspension > 0 ? std::max(lowest, task.priority) : lowest;
      task.suspension = 0;
    }
    const Bounds without = bounds_of(demands_of(tasks));
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].priority > lowest) {
        EXPECT_EQ(with[i], without[i]) << describe(tasks);
      } else if (with[i] >= 0 && without[i] >= 0) {
        EXPECT_GE(with[i], without[i]) << describe(tasks);
      }
    }
  }
}

TEST(suspension_example, quick_verdict_agrees_with_the_bounds) {
  RandomTasks random{27};
  int accepted = 0;
  for (int set = 0; set < 2000; ++set) {
    const auto tasks =
        random_set(random, 4, 20, {.equal_priorities = set % 3 == 0, .groups = set % 2 == 0});
    const auto demands = demands_of(tasks);
    const Bounds bounds = bounds_of(demands);
    bool all = true;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      all = all && bounds[i] >= 0 && bounds[i] <= tasks[i].period;
    }
    Effort effort;
    EXPECT_EQ(fixed_priority_accepts(demands, effort), all) << describe(tasks);
    accepted += all ? 1 : 0;
  }
  EXPECT_GT(accepted, 200);
  EXPECT_LT(accepted, 1800);
}

// Two demands of one task are one thread: while a job of the one waits, the other one has to.
TEST(suspension_example, streams_of_one_task_wait_for_each_other) {
  auto demands = demands_of({{.execution = 1, .suspension = 6, .period = 40, .priority = 2},
                             {.execution = 1, .suspension = 6, .period = 60, .priority = 2},
                             {.execution = 3, .period = 50, .priority = 1}});
  demands[1].task = 0;
  EXPECT_EQ(bounds_of(demands), (Bounds{14, 14, 5}));
}

}  // namespace
}  // namespace takt::analysis
