// SPDX-License-Identifier: Apache-2.0
//
// Releases that are noticed late, with exclusive groups: who is late may find jobs on the stack
// that would come after it, one nested in the other. By hand: TAKT_TEST_ROUNDS and TAKT_TEST_SEED
// as in exhaustive_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <numeric>
#include <string>

#include "../policies.hpp"
#include "analysis/documents.hpp"
#include "analysis/exhaustive.hpp"
#include "analysis/exhaustive_draw.hpp"
#include "takt/analysis/core.hpp"

namespace takt::analysis {
namespace {

using namespace std::chrono_literals;

// `low` is noticed when `middle` has started, and `high` on top of it: both are due later, and keep
// it out, the one by its own group, the other by that of `low`.
constexpr std::string_view two_nested =
    "{'name': 'middle', 'period': 100000, 'deadline': 45000, 'group': 'a',"
    " 'execution': {'worst': 5000}},"
    "{'name': 'low', 'period': 100000, 'deadline': 50000, 'group': 'b', 'jitter': JITTER,"
    " 'execution': {'worst': 3000}},"
    "{'name': 'high', 'period': 100000, 'deadline': 12000, 'group': 'b',"
    " 'execution': {'worst': 4000}}";

Report report_of(const std::string& jitter) {
  std::string callbacks{two_nested};
  callbacks.replace(callbacks.find("JITTER"), 6, jitter);
  return analyse_json(app(callbacks, ", 'policy': 'edf'"));
}

TEST(late_notice, of_two_nested_jobs_both_keep_it_out) {
  const Report report = report_of("40000");
  EXPECT_EQ(report.verdict, Verdict::not_proved);
  const CallbackReport& low = callback(report.scenarios.front(), "low");
  EXPECT_EQ(low.response, 40000ns + 3000ns + 4999ns + 3999ns);
  EXPECT_EQ(low.blocking, 4999ns + 3999ns);
}

TEST(late_notice, one_job_keeps_it_out_where_the_upper_one_is_due_before_it) {
  const Report report = report_of("3000");  // `high` is due before it then
  EXPECT_EQ(report.verdict, Verdict::meets);
}

TEST(late_notice, without_groups_nobody_is_kept_out) {
  std::string callbacks{two_nested};
  callbacks.replace(callbacks.find("JITTER"), 6, "40000");
  for (std::size_t at = callbacks.find("'group'"); at != std::string::npos;
       at = callbacks.find("'group'")) {
    callbacks.erase(at, std::string_view{"'group': 'a',"}.size());
  }
  const Report report = analyse_json(app(callbacks, ", 'policy': 'edf'"));
  EXPECT_EQ(report.verdict, Verdict::meets);
  EXPECT_EQ(callback(report.scenarios.front(), "low").blocking, 0ns);
}

std::string text_of(const std::vector<OracleTask>& tasks) {
  std::string result;
  for (const OracleTask& task : tasks) {
    result += describe(task) + "\n";
  }
  return result;
}

std::vector<OracleTask> tasks_of(const ExhaustiveSet& set) {
  std::vector<OracleTask> tasks;
  std::ranges::transform(set.tasks, std::back_inserter(tasks), &ExhaustiveTask::task);
  return tasks;
}

std::vector<Demand> late_demands(Rule rule, const std::vector<OracleTask>& tasks) {
  std::vector<Demand> demands = demands_of(rule, tasks);
  for (std::size_t i = 0; i < demands.size(); ++i) {
    demands[i].lag = nanoseconds{tasks[i].lag};
  }
  return demands;
}

class LateNotice : public testing::TestWithParam<std::string> {
 protected:
  void expect_above(const CoreBounds& found, const std::vector<std::int64_t>& responses,
                    bool missed) {
    EXPECT_FALSE(found.schedulable == true && missed);
    for (std::size_t i = 0; i < responses.size(); ++i) {
      if (found.responses[i].bound) {
        EXPECT_LE(responses[i], found.responses[i].bound->count()) << "task " << i;
      }
    }
    accepted_ += found.schedulable == true ? 1 : 0;
    nested_ += missed ? 1 : 0;
  }
  int accepted_ = 0;
  int nested_ = 0;
};

// Every time at which each of few jobs can be released and noticed.
TEST_P(LateNotice, no_run_at_all_is_above_the_bound) {
  const analysis::Test test = test_for(*sched::parse_policy(GetParam()));
  const int sets = rounds(GetParam() == "edf" ? 200 : 60);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const ExhaustiveSet set = ExhaustiveSets{seed}.draw_late(GetParam());
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(set));
    Effort effort;
    const CoreBounds found = bounds(test, late_demands(set.rule, tasks_of(set)), effort);
    const Reached reached =
        reach_all({.rule = set.rule, .sporadic = true, .most_situations = 60'000}, set.tasks);
    expect_above(found, reached.responses, reached.missed);
  }
  EXPECT_GT(accepted_, sets / 10);
}

// Many jobs, such that one is noticed as late as can be when others, each above the one before,
// have just started.
std::vector<OracleJob> stacked_jobs(RandomTasks& random, const std::vector<OracleTask>& tasks) {
  constexpr std::int64_t start = 200;
  std::vector<OracleJob> jobs;
  // The longer the deadline the earlier, but for some.
  std::vector<std::int64_t> keys;
  std::ranges::transform(tasks, std::back_inserter(keys), [&](const OracleTask& task) {
    return task.deadline + (random.chance(0.2) ? random.number(-10, 10) : 0);
  });
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::ranges::greater{}, [&](std::size_t i) { return keys[i]; });
  const auto stacked = static_cast<std::int64_t>(tasks.size());
  std::int64_t place = 0;
  for (const std::size_t i : order) {
    const OracleTask& task = tasks[i];
    const bool late = task.lag > 0 && random.chance(0.7);
    const std::int64_t noticed =
        late || random.chance(0.2) ? start + random.number(0, 1) : start - stacked + place;
    place += late ? 0 : 1;
    const std::int64_t release =
        noticed - (late ? task.lag : random.number(0, std::min<std::int64_t>(2, task.lag)));
    jobs.push_back({.task = i, .release = release, .noticed = noticed});
    for (std::int64_t next = release + task.period; next < start + 120; next += task.period) {
      const std::int64_t lag = random.chance(0.7) ? 0 : random.number(0, task.lag);
      jobs.push_back(
          {.task = i, .release = next, .noticed = std::max(jobs.back().noticed, next + lag)});
    }
  }
  return jobs;
}

TEST_P(LateNotice, no_stack_of_many_jobs_is_above_the_bound) {
  const Rule rule = rule_of(GetParam());
  const analysis::Test test = test_for(*sched::parse_policy(GetParam()));
  RandomTasks random{first_seed()};
  const int sets = rounds(1500);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    std::vector<OracleTask> tasks = random.tasks({.most_tasks = 8,
                                                  .most_utilization = 0.9,
                                                  .most_deadline = random.chance(0.5) ? 1.0 : 2.0,
                                                  .groups = rule == Rule::fp || rule == Rule::edf});
    for (OracleTask& task : tasks) {
      task.lag = random.chance(0.4) ? random.number(0, task.deadline) : 0;
    }
    if (GetParam() == "dm") {
      for (OracleTask& task : tasks) {
        task.priority = 100 - static_cast<int>(task.deadline);
      }
    }
    SCOPED_TRACE(text_of(tasks));
    Effort effort;
    const CoreBounds found = bounds(test, late_demands(rule, tasks), effort);
    std::vector<std::int64_t> responses(tasks.size(), 0);
    bool missed = false;
    for (int run = 0; run < 12; ++run) {
      const Observed observed = observe(rule, tasks, stacked_jobs(random, tasks));
      missed = missed || observed.missed;
      for (std::size_t k = 0; k < tasks.size(); ++k) {
        responses[k] = std::max(responses[k], observed.responses[k]);
      }
    }
    expect_above(found, responses, missed);
  }
  EXPECT_GT(accepted_, sets / 20);
  EXPECT_GT(nested_, 0);
}

INSTANTIATE_TEST_SUITE_P(Policies, LateNotice,
                         testing::Values("edf", "np-edf", "fp", "dm", "np-fp"), test::policy_name);

}  // namespace
}  // namespace takt::analysis
