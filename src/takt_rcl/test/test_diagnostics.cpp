// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <takt/os/clock.hpp>
#include <takt/os/event.hpp>
#include <takt/rcl/diagnostics.hpp>
#include <takt/rcl/scheduling_executor.hpp>

namespace {

using namespace std::chrono_literals;
using diagnostic_msgs::msg::DiagnosticArray;
using diagnostic_msgs::msg::DiagnosticStatus;
using Values = std::map<std::string, std::string>;

Values values_of(const DiagnosticStatus& status) {
  Values values;
  for (const auto& pair : status.values) values[pair.key] = pair.value;
  return values;
}

class Diagnostics : public testing::Test {
 protected:
  takt::Context context_;
  takt::Node node_{context_, "watched"};
  takt::SchedulingExecutor executor_{{.real_time = false}};
};

TEST_F(Diagnostics, OfAnExecutorThatWasNotStartedAreRefused) {
  EXPECT_THROW((takt::Diagnostics{node_, executor_}), std::logic_error);
}

TEST_F(Diagnostics, NeedAPeriodAboveZero) {
  executor_.add(node_.create_timer(1ms, [] {}), {.priority = 10});
  executor_.start();
  EXPECT_THROW((takt::Diagnostics{node_, executor_, {.period = 0s}}), std::invalid_argument);
}

TEST_F(Diagnostics, ReportNothingOfTasksThatWereRemoved) {
  executor_.add(node_.create_timer(2ms, [] {}), {.name = "goes", .priority = 20});
  executor_.add(node_.create_timer(2ms, [] {}), {.name = "stays", .priority = 20});
  const auto in = node_.create_subscription<DiagnosticArray>("/diagnostics", takt::QoS{100});
  executor_.start();
  {
    const takt::Diagnostics diagnostics{node_, executor_, {.period = 1h}};
    executor_.remove("goes").wait();
    executor_.add(node_.create_timer(2ms, [] {}), {.name = "comes", .priority = 20});
  }
  executor_.stop();
  DiagnosticArray report;
  takt::MessageInfo info;
  while (in->take(report, info)) {
  }
  ASSERT_EQ(report.status.size(), 3U);
  EXPECT_EQ(values_of(report.status[0])["tasks"], "2");
  const std::set<std::string> names{report.status[1].name, report.status[2].name};
  EXPECT_EQ(names, (std::set<std::string>{"/watched: stays", "/watched: comes"}));
}

TEST_F(Diagnostics, ReportOnceMoreAtTheEndWhatTheExecutorCounted) {
  const auto late = [](const takt::Job& job) {
    while (takt::os::now() <= job.deadline) {
    }
  };
  executor_.add(node_.create_timer(2ms, [] {}), {.name = "fine", .priority = 20});
  executor_.add(node_.create_timer(20ms, late), {.name = "late", .priority = 10, .deadline = 1ms});
  const auto in = node_.create_subscription<DiagnosticArray>("/diagnostics", takt::QoS{100});
  executor_.start();
  {
    const takt::Diagnostics diagnostics{node_, executor_, {.period = 1h}};
    while (executor_.statistics("late").completed < 3) {
      takt::os::sleep_until(takt::os::now() + 1ms);
    }
    executor_.stop();
  }
  DiagnosticArray report;
  takt::MessageInfo info;
  int reports = 0;
  while (in->take(report, info)) ++reports;
  EXPECT_EQ(reports, 2);  // the first and the last

  ASSERT_EQ(report.status.size(), 3U);
  EXPECT_EQ(report.status[0].name, "/watched: executor");
  EXPECT_EQ(values_of(report.status[0])["tasks"], "2");
  EXPECT_EQ(report.status[1].name, "/watched: fine");
  EXPECT_EQ(report.status[2].name, "/watched: late");
  EXPECT_EQ(report.status[2].level, DiagnosticStatus::ERROR);
  const std::string& message = report.status[2].message;  // about the time since the first report
  EXPECT_TRUE(message.starts_with("1 deadline missed") ||
              message.find(" deadlines missed") != std::string::npos)
      << message;
  for (const char* task : {"fine", "late"}) {
    const takt::TaskStatistics counted = executor_.statistics(task);
    Values reported = values_of(report.status[task == std::string{"fine"} ? 1 : 2]);
    EXPECT_EQ(reported["completed"], std::to_string(counted.completed));
    EXPECT_EQ(reported["releases"], std::to_string(counted.releases));
    EXPECT_EQ(reported["deadline_misses"], std::to_string(counted.deadline_misses));
    EXPECT_EQ(report.status[1].hardware_id, "takt");
  }
  EXPECT_EQ(executor_.statistics("late").deadline_misses, executor_.statistics("late").completed);
}

}  // namespace
