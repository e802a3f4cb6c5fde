// SPDX-License-Identifier: Apache-2.0
//
// Policies that are not preemptive: what their closed tests leave open the schedule graph decides,
// so that a report is as exact as all runs, looked at tick by tick.
#include <gtest/gtest.h>

#include "analysis/all_runs.hpp"
#include "analysis/documents.hpp"
#include "analysis/random_tasks.hpp"

namespace takt::analysis {
namespace {

using namespace std::chrono_literals;

// One tick is one nanosecond.
application::Application application_of(Rule rule, const std::vector<OracleTask>& tasks) {
  application::Application app{.name = "random",
                               .policy = rule == Rule::np_fp ? "np-fp" : "np-edf"};
  for (const OracleTask& task : tasks) {
    application::Callback callback;
    callback.task.name = "c" + std::to_string(app.callbacks.size());
    callback.task.parameters = {.period = nanoseconds{task.period},
                                .offset = nanoseconds{task.offset},
                                .deadline = nanoseconds{task.deadline},
                                .priority = task.priority,
                                .expected_execution = nanoseconds{task.execution}};
    callback.execution = {.best = nanoseconds{task.best > 0 ? task.best : task.execution},
                          .worst = nanoseconds{task.execution}};
    callback.jitter = nanoseconds{task.lag};
    app.callbacks.push_back(std::move(callback));
  }
  return app;
}

std::vector<OracleTask> random_set(RandomTasks& random) {
  auto tasks = random.tasks({.most_tasks = 4, .most_utilization = 0.9, .least_deadline = 0.7});
  const bool lags = random.chance(0.3);
  const bool offsets = random.chance(0.5);
  for (OracleTask& task : tasks) {
    task.best = random.chance(0.6) ? random.number(1, task.execution) : 0;
    task.lag = lags ? random.number(0, 2) : 0;
    task.offset = offsets ? random.number(0, task.period) : 0;
  }
  return tasks;
}

struct ExploredTally {
  int closed = 0;    // accepted by the test that knows no schedules
  int explored = 0;  // by their schedules
  int missed = 0;
};

void expect_as_observed(Rule rule, const std::vector<OracleTask>& tasks, ExploredTally& tally) {
  std::int64_t longest = 0;
  for (const OracleTask& task : tasks) {
    longest = std::max({longest, task.offset, task.period});
  }
  const Observed all = observe_all(rule, tasks, 3 * hyperperiod(tasks) + 2 * longest);
  const application::Application app = application_of(rule, tasks);
  const Report report = analyse(app, {.sensitivity = false, .proposals = false});
  const ScenarioReport& scenario = report.scenarios.front();
  ASSERT_EQ(report.verdict, all.missed ? Verdict::misses : Verdict::meets);
  ASSERT_EQ(accepts(app), !all.missed);
  if (all.missed) {
    ++tally.missed;
    return;
  }
  const bool explored = scenario.cores.front().bound_by.starts_with("schedule graph");
  ++(explored ? tally.explored : tally.closed);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const CallbackReport& bound = scenario.callbacks[i];
    ASSERT_EQ(bound.exact, explored);
    ASSERT_GE(bound.response->count(), all.responses[i]);
    if (explored) {
      ASSERT_EQ(bound.response->count(), all.responses[i]);
    }
  }
}

TEST(explored, a_report_is_as_exact_as_all_runs) {
  for (const Rule rule : {Rule::np_fp, Rule::np_edf}) {
    ExploredTally tally;
    RandomTasks random{31 - 1 + first_seed()};
    for (int round = 0; round < rounds(250); ++round) {
      const std::vector<OracleTask> tasks = random_set(random);
      SCOPED_TRACE(text(tasks));
      expect_as_observed(rule, tasks, tally);
      if (HasFailure()) {
        return;
      }
    }
    EXPECT_GT(tally.closed, rounds(40));
    EXPECT_GT(tally.explored, rounds(10));
    EXPECT_GT(tally.missed, rounds(40));
  }
}

// By the closed test `c` may start just before `a` and `b`, and `b` is late; it never does.
TEST(explored, offsets_that_keep_jobs_apart_help) {
  const std::string callbacks = timer("a", 10, 3, 3, ", 'deadline': 7") + "," +
                                timer("b", 10, 3, 2, ", 'deadline': 7") + "," +
                                timer("c", 20, 4, 1, ", 'offset': 6");
  for (const std::string policy : {"np-fp", "np-edf"}) {
    const Report report = analyse_json(app(callbacks, ", 'policy': '" + policy + "'"));
    const ScenarioReport& scenario = report.scenarios.front();
    EXPECT_EQ(report.verdict, Verdict::meets);
    EXPECT_EQ(callback(scenario, "b").response, 6ns);
    EXPECT_TRUE(callback(scenario, "b").exact);
    EXPECT_EQ(callback(scenario, "b").bound_by, "schedule graph (Nasri & Brandenburg 2017), eq. 8");
  }
}

TEST(explored, a_missed_deadline_comes_with_its_run) {
  // Shorter jobs let the long one start before the second release of `a`.
  const std::string varying =
      "{'name': 'b', 'period': 30, 'execution': {'best': 7, 'worst': 8}},"
      "{'name': 'c', 'period': 60, 'execution': {'best': 3, 'worst': 13}}";
  const std::string first = "{'name': 'a', 'period': 10, 'execution': {'best': 1, 'worst': 2}},";
  const Report report = analyse_json(app(first + varying, ", 'policy': 'np-edf'"));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(callback(scenario, "a").verdict, Verdict::misses);
  EXPECT_EQ(scenario.cores.front().verdict, Verdict::misses);
  EXPECT_TRUE(contains(scenario.remarks, "core 0: 'a', released at 10 ns, starts at "));
  EXPECT_TRUE(contains(scenario.remarks, "which is too late; before it "));
}

TEST(explored, what_cannot_be_explored_keeps_the_bounds_of_the_closed_test) {
  const std::string writer = timer("a", 10, 3, 3, ", 'writes': ['x'], 'deadline': 5") + ",";
  const Report report = analyse_json(app(writer + timer("b", 20, 4, 1, ", 'offset': 5") + "," +
                                             message("m", "x", 1, 2, ", 'jitter': 1"),
                                         ", 'policy': 'np-fp'"));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_TRUE(contains(scenario.remarks, "'m' is released by messages"));
  EXPECT_EQ(callback(scenario, "a").response, 6ns);
  EXPECT_NE(callback(scenario, "a").verdict, Verdict::meets);
  // Nobody needs to look at what is overloaded.
  const Report full =
      analyse_json(app(timer("a", 10, 6, 2) + "," + timer("b", 10, 6, 1), ", 'policy': 'np-edf'"));
  EXPECT_EQ(full.verdict, Verdict::misses);
  EXPECT_TRUE(full.scenarios.front().remarks.empty());
}

}  // namespace
}  // namespace takt::analysis
