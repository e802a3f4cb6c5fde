// SPDX-License-Identifier: Apache-2.0
//
// What is told of an executor: levels and messages about the time since the report before.
#include "takt/executor/report.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <stdexcept>

#include "takt/os/clock.hpp"

namespace takt::executor {
namespace {

using namespace std::chrono_literals;

Snapshot of(const std::string& name, const TaskStatistics& statistics) {
  Snapshot with_one;
  with_one.tasks = {{.name = name, .statistics = statistics}};
  return with_one;
}

std::map<std::string, std::string> values_of(const Status& status) {
  return {status.values.begin(), status.values.end()};
}

TEST(Reporter, ReportsTheExecutorFirst) {
  Reporter reporter;
  Snapshot of_none;
  of_none.scenario = "docking";
  const auto report = reporter.report(of_none);
  ASSERT_EQ(report.size(), 1U);
  EXPECT_EQ(report[0].name, "executor");
  EXPECT_EQ(report[0].level, StatusLevel::ok);
  EXPECT_EQ(report[0].message, "running");
  EXPECT_EQ(values_of(report[0]).at("scenario"), "docking");
  EXPECT_EQ(values_of(report[0]).at("tasks"), "0");
}

TEST(Reporter, WarnsOfWhatTheExecutorLacks) {
  Reporter reporter;
  Snapshot lacking;
  lacking.lost_trace_events = 3;
  lacking.not_granted = {{.what = "priority 90", .why = "not permitted", .fix = "ask"}};
  const auto report = reporter.report(lacking);
  EXPECT_EQ(report[0].level, StatusLevel::warn);
  EXPECT_EQ(report[0].message, "without all real-time settings, trace events lost");
  EXPECT_EQ(values_of(report[0]).at("not_granted"), "priority 90: not permitted");
  EXPECT_EQ(values_of(report[0]).at("lost_trace_events"), "3");
}

TEST(Reporter, LevelsAreAboutTheTimeSinceTheReportBefore) {
  Reporter reporter;
  TaskStatistics counted{.releases = 10, .completed = 9, .skipped = 1, .deadline_misses = 2};
  auto report = reporter.report(of("slow", counted));
  ASSERT_EQ(report.size(), 2U);
  EXPECT_EQ(report[1].name, "slow");
  EXPECT_EQ(report[1].level, StatusLevel::error);
  EXPECT_EQ(report[1].message, "2 deadlines missed, 1 release skipped");
  counted.releases = 20;
  counted.lost_arrivals = 4;
  report = reporter.report(of("slow", counted));
  EXPECT_EQ(report[1].level, StatusLevel::warn);
  EXPECT_EQ(report[1].message, "4 messages lost");
  EXPECT_EQ(values_of(report[1]).at("deadline_misses"), "2");  // since the start
  report = reporter.report(of("slow", counted));
  EXPECT_EQ(report[1].level, StatusLevel::ok);
  EXPECT_EQ(report[1].message, "in time");
}

TEST(Reporter, AnotherTaskOfTheSameNameCountsFromZero) {
  Reporter reporter;
  static_cast<void>(reporter.report(of("task", {.releases = 100, .deadline_misses = 5})));
  auto report = reporter.report(of("task", {.releases = 3, .deadline_misses = 1}));
  EXPECT_EQ(report[1].message, "1 deadline missed");
  // Nor is one remembered that was away.
  static_cast<void>(reporter.report({}));
  report = reporter.report(of("task", {.releases = 200, .deadline_misses = 6}));
  EXPECT_EQ(report[1].message, "6 deadlines missed");
}

TEST(Reports, ReportAtOnceAndOnceMoreAtTheEnd) {
  std::atomic<int> reported{0};
  {
    const Reports reports{1h, [&] { ++reported; }};
    while (reported == 0) {
      os::sleep_until(os::now() + 1ms);
    }
  }
  EXPECT_EQ(reported, 2);
}

TEST(Reports, AreReportedEachPeriod) {
  std::atomic<int> reported{0};
  const Reports reports{1ms, [&] { ++reported; }};
  while (reported < 10) {
    os::sleep_until(os::now() + 1ms);
  }
}

TEST(Reports, NeedAPeriodAboveZero) {
  EXPECT_THROW((Reports{0s, [] {}}), std::invalid_argument);
  EXPECT_THROW((Reports{-1s, [] {}}), std::invalid_argument);
}

TEST(Snapshot, HasWhatTheExecutorCounted) {
  Executor executor{{.real_time = false}};
  std::atomic<int> jobs{0};
  const auto added =
      executor.add({.name = "counted", .parameters = {.period = 1ms, .priority = 10}},
                   {.callback = [&](const sched::Job&) { ++jobs; }});
  executor.start();
  while (jobs < 3) {
    os::sleep_until(os::now() + 1ms);
  }
  executor.stop();
  const Snapshot now = snapshot(executor, {{.index = added.index, .name = "counted"}});
  ASSERT_EQ(now.tasks.size(), 1U);
  EXPECT_EQ(now.tasks[0].name, "counted");
  EXPECT_EQ(now.tasks[0].statistics.completed, static_cast<std::uint64_t>(jobs));
}

Snapshot of_limit(const LimitStatistics& statistics_of_limit) {
  Snapshot with_one;
  with_one.limits = {statistics_of_limit};
  return with_one;
}

LimitStatistics latency(std::uint64_t begun, std::uint64_t checked, std::uint64_t exceeded,
                        double allowed = 0) {
  return {.subject = "stop",
          .topic = {},
          .quantity = Quantity::latency,
          .limit = 20ms,
          .allowed = allowed,
          .checked = checked,
          .exceeded = exceeded,
          .worst = 31ms,
          .begun = begun};
}

TEST(Reporter, ALimitIsAtErrorWhereMoreExceedItThanItAllows) {
  Reporter reporter;
  EXPECT_EQ(reporter.report(of_limit(latency(9, 9, 0))).at(1).level, StatusLevel::ok);
  const Status broken = reporter.report(of_limit(latency(20, 19, 3))).at(1);
  EXPECT_EQ(broken.level, StatusLevel::error);
  EXPECT_EQ(broken.name, "limit: stop latency");
  EXPECT_EQ(broken.message, "3 of 10 exceeded the limit");
  EXPECT_EQ(values_of(broken).at("limit_us"), "20000.000");
  EXPECT_EQ(values_of(broken).at("worst_us"), "31000.000");
  EXPECT_EQ(values_of(broken).at("checked"), "19");
  EXPECT_EQ(values_of(broken).at("exceeded"), "3");
  EXPECT_EQ(reporter.report(of_limit(latency(30, 29, 3))).at(1).level, StatusLevel::ok);
}

TEST(Reporter, ALimitIsAtWarnWhereItAllowsForTheExcess) {
  Reporter reporter;
  const Status allowed = reporter.report(of_limit(latency(10, 10, 1, 0.1))).at(1);
  EXPECT_EQ(allowed.level, StatusLevel::warn);
  EXPECT_EQ(allowed.message, "1 of 10 exceeded the limit, which allows it");
}

TEST(Reporter, AChainAtWhoseEndNothingArrivesIsAnError) {
  Reporter reporter;
  EXPECT_EQ(reporter.report(of_limit(latency(5, 5, 0))).at(1).level, StatusLevel::ok);
  EXPECT_EQ(reporter.report(of_limit(latency(9, 5, 0))).at(1).level, StatusLevel::ok);
  const Status silent = reporter.report(of_limit(latency(14, 5, 0))).at(1);
  EXPECT_EQ(silent.level, StatusLevel::error);
  EXPECT_EQ(silent.message, "no data arrived");
  EXPECT_EQ(reporter.report(of_limit(latency(18, 9, 0))).at(1).level, StatusLevel::ok);
}

TEST(Reporter, AChainThatDoesNotBeginIsNoError) {
  Reporter reporter;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(reporter.report(of_limit(latency(5, 5, 0))).at(1).level, StatusLevel::ok);
  }
}

}  // namespace
}  // namespace takt::executor
