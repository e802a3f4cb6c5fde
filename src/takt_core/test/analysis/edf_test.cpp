// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/edf.hpp"

#include <gtest/gtest.h>

#include "analysis/documents.hpp"
#include "analysis/oracle.hpp"
#include "analysis/random_tasks.hpp"

namespace takt::analysis {
namespace {

DemandTest::Outcome outcome_of(Rule rule, const std::vector<OracleTask>& tasks) {
  Effort effort;
  return edf_demand(demands_of(rule, tasks), rule == Rule::edf, effort).outcome;
}

std::vector<std::int64_t> bounds_of(Rule rule, const std::vector<OracleTask>& tasks) {
  Effort effort;
  std::vector<std::int64_t> result;
  for (const Response& response :
       edf_responses(demands_of(rule, tasks), rule == Rule::edf, effort)) {
    result.push_back(response.bound ? response.bound->count() : -1);
  }
  return result;
}

// Each run with one job that has just begun, or none, when everything else is released.
bool misses_somewhere(Rule rule, const std::vector<OracleTask>& tasks) {
  for (std::size_t blocker = 0; blocker <= tasks.size(); ++blocker) {
    std::vector<OracleJob> jobs;
    if (blocker < tasks.size()) {
      jobs.push_back({.task = blocker, .release = 0, .noticed = 0});
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (i != blocker) {
        add_periodic(jobs, tasks, i, 1, 2 * hyperperiod(tasks));
      }
    }
    if (observe(rule, tasks, jobs).missed) {
      return true;
    }
  }
  return false;
}

TEST(edf, verdict_is_that_of_the_synchronous_run) {
  RandomTasks random{1};
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto tasks = random.tasks({.most_deadline = round % 2 == 0 ? 1.0 : 2.0});
    std::vector<OracleJob> jobs;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      add_periodic(jobs, tasks, i, 0, 2 * hyperperiod(tasks));
    }
    const bool met = outcome_of(Rule::edf, tasks) == DemandTest::Outcome::met;
    EXPECT_EQ(met, !observe(Rule::edf, tasks, jobs).missed) << text(tasks);
    accepted += met ? 1 : 0;
  }
  EXPECT_GT(accepted, 300);
  EXPECT_LT(accepted, 2700);
}

TEST(edf, implicit_deadlines_are_met_up_to_a_full_core) {
  const std::vector<OracleTask> full = {{.execution = 2, .period = 4, .deadline = 4},
                                        {.execution = 3, .period = 6, .deadline = 6}};
  EXPECT_EQ(outcome_of(Rule::edf, full), DemandTest::Outcome::met);
  auto over = full;
  over.push_back({.execution = 1, .period = 1000, .deadline = 1000});
  EXPECT_EQ(outcome_of(Rule::edf, over), DemandTest::Outcome::exceeded);
}

// Jeffay, Stanat & Martel 1991: the condition is necessary and sufficient for sporadic tasks.
TEST(np_edf, verdict_is_that_of_the_worst_sporadic_run) {
  RandomTasks random{2};
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto tasks = random.tasks({.least_deadline = 0.7, .most_deadline = 1});
    const bool met = outcome_of(Rule::np_edf, tasks) == DemandTest::Outcome::met;
    EXPECT_EQ(met, !misses_somewhere(Rule::np_edf, tasks)) << text(tasks);
    accepted += met ? 1 : 0;
  }
  EXPECT_GT(accepted, 300);
  EXPECT_LT(accepted, 2700);
}

// The condition as it is printed, over all L, for implicit deadlines.
bool jeffay_stanat_martel(std::vector<OracleTask> tasks) {
  std::ranges::sort(tasks, {}, &OracleTask::period);
  if (utilization(tasks) > 1 + 1e-9) {
    return false;
  }
  for (std::size_t i = 1; i < tasks.size(); ++i) {
    for (std::int64_t length = tasks.front().period + 1; length < tasks[i].period; ++length) {
      std::int64_t demand = tasks[i].execution;
      for (std::size_t j = 0; j < i; ++j) {
        demand += (length - 1) / tasks[j].period * tasks[j].execution;
      }
      if (length < demand) {
        return false;
      }
    }
  }
  return true;
}

TEST(np_edf, implicit_deadlines_agree_with_the_condition_of_jeffay_stanat_and_martel) {
  RandomTasks random{3};
  int accepted = 0;
  for (int round = 0; round < 5000; ++round) {
    const auto tasks = random.tasks({.most_tasks = 5, .least_deadline = 1});
    const bool met = outcome_of(Rule::np_edf, tasks) == DemandTest::Outcome::met;
    EXPECT_EQ(met, jeffay_stanat_martel(tasks)) << text(tasks);
    accepted += met ? 1 : 0;
  }
  EXPECT_GT(accepted, 300);
  EXPECT_LT(accepted, 4700);
}

// All offsets of up to three tasks with short periods: the bound holds and is reached.
TEST(edf, response_bounds_are_reached_by_some_offsets) {
  RandomTasks random{4};
  for (int round = 0; round < 150; ++round) {
    auto tasks = random.tasks({.most_tasks = 3, .most_deadline = 1.5});
    if (hyperperiod(tasks) > 120) {
      continue;
    }
    tasks.resize(std::min<std::size_t>(tasks.size(), 3));
    const auto bounds = bounds_of(Rule::edf, tasks);
    std::vector<std::int64_t> longest(tasks.size(), 0);
    for (std::int64_t second = 0; second < tasks[1].period; ++second) {
      const std::int64_t thirds = tasks.size() > 2 ? tasks[2].period : 1;
      for (std::int64_t third = 0; third < thirds; ++third) {
        std::vector<OracleJob> jobs;
        const std::int64_t end = 2 * hyperperiod(tasks) + 30;
        add_periodic(jobs, tasks, 0, 0, end);
        add_periodic(jobs, tasks, 1, second, end);
        if (tasks.size() > 2) {
          add_periodic(jobs, tasks, 2, third, end);
        }
        const Observed observed = observe(Rule::edf, tasks, jobs);
        for (std::size_t i = 0; i < tasks.size(); ++i) {
          longest[i] = std::max(longest[i], observed.responses[i]);
        }
      }
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      EXPECT_LE(longest[i], bounds[i]) << text(tasks) << "task " << i;
      // Of equal deadlines the earlier release comes first; the bound lets all of them.
      EXPECT_GE(longest[i], bounds[i] - 1) << text(tasks) << "task " << i;
    }
  }
}

void expect_holds(Rule rule, const std::vector<OracleTask>& tasks, std::int64_t most_lag,
                  RandomTasks& random, int& accepted) {
  std::vector<Demand> demands = demands_of(rule, tasks);
  std::vector<std::int64_t> lags;
  for (Demand& demand : demands) {
    lags.push_back(random.number(0, most_lag));
    demand.lag = nanoseconds{lags.back()};
  }
  Effort effort;
  const auto bounds = edf_responses(demands, rule == Rule::edf, effort);
  const bool met =
      edf_demand(demands, rule == Rule::edf, effort).outcome == DemandTest::Outcome::met;
  accepted += met ? 1 : 0;
  for (int run = 0; run < 6; ++run) {
    const auto jobs = random_jobs(random, tasks, demands, run == 0);
    const Observed observed = observe(rule, tasks, jobs);
    EXPECT_FALSE(met && observed.missed) << text(tasks);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      ASSERT_TRUE(bounds[i].bound) << text(tasks);
      EXPECT_LE(observed.responses[i], bounds[i].bound->count())
          << text(tasks) << "task " << i << (rule == Rule::edf ? "" : " not preemptive") << " lags "
          << ::testing::PrintToString(lags);
    }
  }
}

TEST(edf, bounds_and_verdict_hold_with_groups_and_lags) {
  RandomTasks random{5};
  int accepted = 0;
  for (int round = 0; round < 2000; ++round) {
    expect_holds(round % 2 == 0 ? Rule::edf : Rule::np_edf,
                 random.tasks({.most_utilization = 0.95, .most_deadline = 1.5, .groups = true}),
                 round % 4 < 2 ? 4 : 0, random, accepted);
  }
  EXPECT_GT(accepted, 100);
}

// Before the first deadline interrupts take time, and nobody is late.
TEST(edf, a_core_whose_releases_take_time_keeps_its_deadlines) {
  const std::string callbacks = timer("a", 100, 10, 1) + "," + timer("b", 200, 20, 1);
  const std::string more = ", 'policy': 'edf', 'overheads': {'release': 3}";
  EXPECT_EQ(analyse_json(app(callbacks, more)).verdict, Verdict::meets);
  const std::string hasty = "," + timer("c", 100, 10, 1, ", 'deadline': 18");
  EXPECT_EQ(analyse_json(app(callbacks + hasty, more)).verdict, Verdict::not_proved);
}

}  // namespace
}  // namespace takt::analysis
