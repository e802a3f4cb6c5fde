// SPDX-License-Identifier: Apache-2.0
//
// The schedule graph against all runs, looked at tick by tick, on thousands of random sets; and on
// what the papers say about theirs.
#include "takt/analysis/schedule_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/all_runs.hpp"
#include "analysis/oracle.hpp"
#include "analysis/random_tasks.hpp"
#include "takt/sched/policies.hpp"

namespace takt::analysis {
namespace {

using Outcome = ScheduleGraph::Outcome;

sched::PolicyPtr policy_of(Rule rule) {
  switch (rule) {
    case Rule::p_rm:
      return sched::precautious_rm();
    case Rule::cw_edf:
      return sched::cw_edf();
    case Rule::np_edf:
      return sched::non_preemptive_edf();
    default:
      return sched::non_preemptive_fixed_priority();
  }
}

// One tick is one nanosecond.
std::vector<PeriodicTask> periodic(const std::vector<OracleTask>& tasks) {
  std::vector<PeriodicTask> result;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const OracleTask& task = tasks[i];
    result.push_back(
        {.first = {.task = static_cast<sched::TaskIndex>(i),
                   .priority = task.priority,
                   .release = sched::TimePoint{nanoseconds{task.offset}},
                   .deadline = sched::TimePoint{nanoseconds{task.offset + task.deadline}},
                   .period = nanoseconds{task.period},
                   .expected_execution = nanoseconds{task.execution}},
         .lag = nanoseconds{task.lag},
         .best = nanoseconds{task.best > 0 ? task.best : task.execution},
         .worst = nanoseconds{task.execution}});
  }
  return result;
}

ScheduleGraph graph_of(Rule rule, const std::vector<OracleTask>& tasks, GraphOptions options = {}) {
  options.witness = true;
  return explore(*policy_of(rule), periodic(tasks), options);
}

std::string describe(Rule rule, const std::vector<OracleTask>& tasks) {
  std::string result = policy_of(rule)->name().data();
  for (const OracleTask& task : tasks) {
    result += "; C=" + std::to_string(task.best) + ".." + std::to_string(task.execution) +
              " T=" + std::to_string(task.period) + " D=" + std::to_string(task.deadline) +
              " P=" + std::to_string(task.priority) + " O=" + std::to_string(task.offset) +
              " J=" + std::to_string(task.lag);
  }
  return result;
}

// When jobs compute as long as in the witness, does that lead to what it says, and is it too late?
void expect_late(Rule rule, const std::vector<OracleTask>& tasks,
                 const std::vector<PlacedJob>& witness) {
  ASSERT_FALSE(witness.empty());
  std::vector<std::int64_t> executions;
  std::vector<OracleStart> expected;
  std::vector<std::uint64_t> started(tasks.size(), 0);
  for (const PlacedJob& job : witness) {
    const OracleTask& task = tasks[job.task];
    ASSERT_GE(job.execution.count(), task.best > 0 ? task.best : task.execution);
    ASSERT_LE(job.execution.count(), task.execution);
    ASSERT_EQ(job.index, started[job.task]++);
    ASSERT_EQ(job.release.count(),
              task.offset + static_cast<std::int64_t>(job.index) * task.period);
    executions.push_back(job.execution.count());
    expected.push_back({.task = job.task, .start = job.start.count()});
  }
  // The last one starts then, or later, or never.
  const PlacedJob& last = witness.back();
  expected.pop_back();
  std::vector<OracleStart> starts = observe_one(rule, tasks, executions);
  ASSERT_GE(starts.size(), expected.size());
  for (std::size_t i = expected.size(); i < starts.size(); ++i) {
    ASSERT_TRUE(starts[i].task != last.task || starts[i].start >= last.start.count());
  }
  starts.resize(expected.size());
  ASSERT_EQ(starts, expected);
  ASSERT_GT(last.start + last.execution, last.release + nanoseconds{tasks[last.task].deadline});
}

struct GraphTally {
  int met = 0;
  int missed = 0;
  int varied = 0;  // missed, but not where all jobs take their worst case
};

// Priorities by period, as the policies assign them; periods that are equal share one.
void assign_rate_monotonic(std::vector<OracleTask>& tasks) {
  for (OracleTask& task : tasks) {
    task.priority = static_cast<int>(1000 - task.period);
  }
}

std::vector<OracleTask> random_set(RandomTasks& random, Rule rule, bool lags, bool offsets) {
  std::vector<OracleTask> tasks =
      random.tasks({.most_tasks = 4, .most_utilization = 0.9, .least_deadline = 0.7});
  if (rule == Rule::p_rm) {
    assign_rate_monotonic(tasks);
  }
  for (OracleTask& task : tasks) {
    task.best = random.chance(0.6) ? random.number(1, task.execution) : 0;
    task.lag = lags ? random.number(0, 2) : 0;
    task.offset = offsets ? random.number(0, task.period) : 0;
  }
  return tasks;
}

std::int64_t horizon(const std::vector<OracleTask>& tasks, std::int64_t hyperperiods) {
  std::int64_t most = 0;
  for (const OracleTask& task : tasks) {
    most = std::max({most, task.offset, task.period});
  }
  return hyperperiods * hyperperiod(tasks) + 2 * most;
}

constexpr std::array rules = {Rule::p_rm, Rule::cw_edf, Rule::np_fp, Rule::np_edf};

TEST(schedule_graph, is_exact_where_releases_are_noticed_at_once) {
  int varied = 0;
  for (const Rule rule : rules) {
    GraphTally tally;
    RandomTasks random{11};
    for (int round = 0; round < 300; ++round) {
      const std::vector<OracleTask> tasks = random_set(random, rule, false, false);
      SCOPED_TRACE(describe(rule, tasks));
      const Observed all = observe_all(rule, tasks, horizon(tasks, 1));
      const ScheduleGraph graph = graph_of(rule, tasks);
      ASSERT_TRUE(graph.exact);
      ASSERT_EQ(graph.outcome, all.missed ? Outcome::missed : Outcome::met);
      if (all.missed) {
        ++tally.missed;
        expect_late(rule, tasks, graph.witness);
      } else {
        ++tally.met;
        for (std::size_t i = 0; i < tasks.size(); ++i) {
          ASSERT_EQ(graph.responses[i].count(), all.responses[i]);
        }
      }
      std::vector<OracleTask> worst = tasks;
      for (OracleTask& task : worst) {
        task.best = 0;
      }
      const ScheduleGraph constant = graph_of(rule, worst);
      ASSERT_EQ(constant.outcome == Outcome::missed,
                observe_all(rule, worst, horizon(tasks, 1)).missed);
      tally.varied += all.missed && constant.outcome == Outcome::met ? 1 : 0;
    }
    EXPECT_GT(tally.met, 100);
    EXPECT_GT(tally.missed, 30);
    varied += tally.varied;
  }
  EXPECT_GT(varied, 0) << "too few sets in which shorter jobs do harm";
}

TEST(schedule_graph, is_exact_with_offsets) {
  for (const Rule rule : rules) {
    GraphTally tally;
    RandomTasks random{12};
    for (int round = 0; round < 150; ++round) {
      const std::vector<OracleTask> tasks = random_set(random, rule, false, true);
      SCOPED_TRACE(describe(rule, tasks));
      const Observed all = observe_all(rule, tasks, horizon(tasks, 3));
      const ScheduleGraph graph = graph_of(rule, tasks);
      ASSERT_EQ(graph.outcome, all.missed ? Outcome::missed : Outcome::met);
      ++(all.missed ? tally.missed : tally.met);
      if (all.missed) {
        expect_late(rule, tasks, graph.witness);
        continue;
      }
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        ASSERT_EQ(graph.responses[i].count(), all.responses[i]);
      }
    }
    EXPECT_GT(tally.met, 50);
    EXPECT_GT(tally.missed, 20);
  }
}

// Exact for policies that never idle on purpose; otherwise nothing is above its bound.
TEST(schedule_graph, holds_where_releases_are_noticed_late) {
  for (const Rule rule : rules) {
    GraphTally tally;
    int needless = 0;
    int loose = 0;
    RandomTasks random{13};
    const bool conserving = rule == Rule::np_fp || rule == Rule::np_edf;
    for (int round = 0; round < 80; ++round) {
      const std::vector<OracleTask> tasks = random_set(random, rule, true, round % 2 == 0);
      SCOPED_TRACE(describe(rule, tasks));
      const Observed all = observe_all(rule, tasks, horizon(tasks, round % 2 == 0 ? 3 : 1));
      const ScheduleGraph graph = graph_of(rule, tasks);
      ++(all.missed ? tally.missed : tally.met);
      if (all.missed) {
        ASSERT_EQ(graph.outcome, Outcome::missed);
        continue;
      }
      if (graph.outcome == Outcome::missed) {
        ASSERT_FALSE(conserving);
        ASSERT_FALSE(graph.exact);
        ++needless;
        continue;
      }
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        ASSERT_GE(graph.responses[i].count(), all.responses[i]);
        if (conserving) {
          ASSERT_EQ(graph.responses[i].count(), all.responses[i]);
        }
        loose += graph.responses[i].count() > all.responses[i] ? 1 : 0;
      }
    }
    EXPECT_GT(tally.met, 20);
    EXPECT_GT(tally.missed, 20);
    EXPECT_LE(needless + loose, tally.met / 20 + 1) << "it is nearly exact all the same";
  }
}

// Execution, period; deadlines at the end of the period.
std::vector<OracleTask> published(std::vector<std::pair<std::int64_t, std::int64_t>> values) {
  std::vector<OracleTask> tasks;
  for (const auto& [execution, period] : values) {
    tasks.push_back({.execution = execution,
                     .period = period,
                     .deadline = period,
                     .priority = static_cast<int>(1000 - period)});
  }
  return tasks;
}

// Nasri & Fohler 2016, Fig. 1 and Fig. 2, and a third set of that kind.
TEST(schedule_graph, judges_the_examples_of_nasri_and_fohler_as_they_do) {
  const auto first = published({{1, 10}, {8, 30}, {17, 60}});
  EXPECT_EQ(graph_of(Rule::np_fp, first).outcome, Outcome::missed);
  EXPECT_EQ(graph_of(Rule::p_rm, first).outcome, Outcome::met);
  const auto second = published({{3, 10}, {6, 12}, {8, 60}});
  EXPECT_EQ(graph_of(Rule::np_fp, second).outcome, Outcome::missed);
  EXPECT_EQ(graph_of(Rule::p_rm, second).outcome, Outcome::missed);
  EXPECT_EQ(graph_of(Rule::np_edf, second).outcome, Outcome::missed);
  EXPECT_EQ(graph_of(Rule::cw_edf, second).outcome, Outcome::met);
  const auto third = published({{3, 10}, {8, 15}, {8, 60}});
  EXPECT_EQ(graph_of(Rule::np_edf, third).outcome, Outcome::missed);
  EXPECT_EQ(graph_of(Rule::cw_edf, third).outcome, Outcome::met);
}

// Nasri & Brandenburg 2017, Fig. 1: with all jobs at their worst no deadline is missed; with the
// first ones at their best the long one comes before the second release of the first task.
TEST(schedule_graph, finds_the_anomaly_of_nasri_and_brandenburg) {
  auto tasks = published({{2, 10}, {8, 30}, {13, 60}});
  EXPECT_EQ(graph_of(Rule::np_edf, tasks).outcome, Outcome::met);
  tasks[0].best = 1;
  tasks[1].best = 7;
  tasks[2].best = 3;
  const ScheduleGraph graph = graph_of(Rule::np_edf, tasks);
  ASSERT_EQ(graph.outcome, Outcome::missed);
  expect_late(Rule::np_edf, tasks, graph.witness);
  EXPECT_EQ(graph.witness.back().task, 0U);
  // Critical windows keep the long one back until there is room.
  EXPECT_EQ(graph_of(Rule::cw_edf, tasks).outcome, Outcome::met);
}

TEST(schedule_graph, says_when_there_is_too_much_to_look_at) {
  auto tasks = published({{1, 7}, {1, 11}, {1, 13}});
  const ScheduleGraph few = graph_of(Rule::cw_edf, tasks, {.most_vertices = 100});
  EXPECT_EQ(few.outcome, Outcome::unknown);
  EXPECT_EQ(few.reason, "more than 100 jobs are released before the timers repeat themselves");
  tasks = published({{6, 20}, {6, 20}, {6, 20}});
  for (OracleTask& task : tasks) {
    task.best = 1;
    task.lag = 3;
  }
  const ScheduleGraph many = graph_of(Rule::np_edf, tasks, {.most_vertices = 4});
  EXPECT_EQ(many.outcome, Outcome::unknown);
  EXPECT_EQ(many.reason, "the schedules that are possible have more than 4 states");
  tasks = published({{1, 999'999'937}, {1, 999'999'929}, {1, 999'999'893}});
  EXPECT_EQ(graph_of(Rule::np_edf, tasks).outcome, Outcome::unknown);
}

}  // namespace
}  // namespace takt::analysis
