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
  Snapshot made;
  made.tasks = {{.name = name, .statistics = statistics}};
  return made;
}

std::map<std::string, std::string> values_of(const Status& status) {
  return {status.values.begin(), status.values.end()};
}

TEST(Reporter, TellsOfTheExecutorFirst) {
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
  lacking.shortfalls = {{.what = "priority 90", .why = "not permitted", .fix = "ask"}};
  const auto report = reporter.report(lacking);
  EXPECT_EQ(report[0].level, StatusLevel::warn);
  EXPECT_EQ(report[0].message, "without all real-time settings, trace events lost");
  EXPECT_EQ(values_of(report[0]).at("shortfall"), "priority 90: not permitted");
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

TEST(Reports, TellAtOnceAndOnceMoreAtTheEnd) {
  std::atomic<int> told{0};
  {
    const Reports reports{1h, [&] { ++told; }};
    while (told == 0) {
      os::sleep_until(os::now() + 1ms);
    }
  }
  EXPECT_EQ(told, 2);
}

TEST(Reports, AreToldEachPeriod) {
  std::atomic<int> told{0};
  const Reports reports{1ms, [&] { ++told; }};
  while (told < 10) {
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

}  // namespace
}  // namespace takt::executor
