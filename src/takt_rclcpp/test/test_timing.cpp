// SPDX-License-Identifier: Apache-2.0
//
// What an executor says of a timing file whose entries match none of its callbacks.
#include <algorithm>
#include <fstream>
#include <mutex>
#include <std_msgs/msg/int32.hpp>
#include <vector>

#include "support.hpp"
#include "takt/sched/error.hpp"
#include "takt/testing/temporary.hpp"

namespace takt::test {
namespace {

using std_msgs::msg::Int32;

std::mutex mutex;
std::vector<std::string> warnings;

void keep_warning(const rcutils_log_location_t*, int severity, const char*,
                  rcutils_time_point_value_t, const char* format, va_list* arguments) {
  char text[1024];
  vsnprintf(text, sizeof text, format, *arguments);
  if (severity == RCUTILS_LOG_SEVERITY_WARN) {
    const std::lock_guard lock{mutex};
    warnings.emplace_back(text);
  }
}

// In place of --takt-timing, as launch files and parameter files say it.
class TimingParameter : public testing::Test {
 protected:
  static void init(const std::string& parameter) {
    const std::vector<const char*> arguments{"program", "--ros-args", "-p", parameter.c_str()};
    rclcpp::init(static_cast<int>(arguments.size()), arguments.data());
  }
  void TearDown() override { rclcpp::shutdown(); }

  // What the executor's making was refused with; empty: it was not.
  static std::string refusal() {
    try {
      const SchedulingExecutor executor;
    } catch (const sched::ScheduleError& error) {
      return error.what();
    }
    return {};
  }
};

TEST_F(TimingParameter, namesTheFile) {
  init("takt_timing:=/nowhere/robot.timing.yaml");
  EXPECT_NE(refusal().find("/nowhere/robot.timing.yaml"), std::string::npos) << refusal();
}

TEST_F(TimingParameter, ofOneNodeIsThatOfTheProcess) {
  init("robot:takt_timing:=/nowhere/robot.timing.yaml");
  EXPECT_NE(refusal().find("/nowhere/robot.timing.yaml"), std::string::npos) << refusal();
}

TEST_F(TimingParameter, thatIsNoTextIsRefused) {
  init("takt_timing:=7");
  EXPECT_NE(refusal().find("takt_timing is no text"), std::string::npos) << refusal();
}

TEST_F(TimingParameter, ofOtherNamesSaysNothing) {
  init("timing:=/nowhere/robot.timing.yaml");
  EXPECT_EQ(refusal(), "");
}

class TimingOfExecutor : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    warnings.clear();
    rcutils_logging_set_output_handler(keep_warning);
  }
  void TearDown() override {
    rcutils_logging_set_output_handler(rcutils_logging_console_output_handler);
    WithContext::TearDown();
  }

  [[nodiscard]] takt_rclcpp::TimingRule rule(const std::string& content) const {
    const auto file = folder_.path() / "timing.yaml";
    std::ofstream{file} << content;
    return takt_rclcpp::load_timing(file).rule;
  }
  static std::ptrdiff_t reported(const std::string& words) {
    const std::lock_guard lock{mutex};
    return std::ranges::count_if(
        warnings, [&](const std::string& text) { return text.find(words) != std::string::npos; });
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(TimingOfExecutor, entriesThatMatchNothingAreReportedOnceWhileItSpins) {
  const auto node = std::make_shared<rclcpp::Node>("guard");
  const auto timer = node->create_wall_timer(1h, [] {});
  const auto in = node->create_subscription<Int32>(unique("scan"), 1, [](const Int32&) {});
  auto options = quiet();
  options.report_waiting_after = 100ms;  // how often it looks around
  options.report_unmatched_after = 100ms;
  SchedulingExecutor executor{options};
  executor.set_timing(
      rule("callbacks:\n"
           "  - {node: /guard, kind: timer, priority: 30}\n"
           "  - {node: /gaurd, priority: 30}\n"
           "  - {node: /guard, kind: timer, ordinal: 4, priority: 30}\n"
           "  - {name: /" +
           unique("scam") +
           ", priority: 30}\n"
           "  - {node: /guard, group: 6, priority: 30}\n"
           "  - {node: /later, priority: 30}\n"));
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return reported("timing.yaml:") == 5; }))
      << reported("timing.yaml:");
  EXPECT_EQ(reported("timing.yaml:3: no node '/gaurd' yet"), 1);
  EXPECT_EQ(reported("did you mean '/guard'?"), 1);
  EXPECT_EQ(reported("timing.yaml:4: no ordinal '4' yet with node '/guard'"), 1);
  EXPECT_EQ(reported("timing.yaml:5: no name '/" + unique("scam") + "' yet"), 1);
  EXPECT_EQ(reported("timing.yaml:6: no group '6' yet with node '/guard'"), 1);
  EXPECT_EQ(reported("timing.yaml:7: no node '/later' yet"), 1);
  EXPECT_EQ(executor.unmatched().size(), 5U);
  const auto later = std::make_shared<rclcpp::Node>("later");
  executor.add_node(later);
  EXPECT_TRUE(eventually([&] { return executor.unmatched().size() == 4; }));
  spinning.end();
  EXPECT_EQ(reported("timing.yaml:"), 5);
}

// As a container does, to which nodes come one by one.
TEST_F(TimingOfExecutor, nothingIsReportedBeforeTheNodesHaveCome) {
  const auto container = std::make_shared<rclcpp::Node>("container");
  auto options = quiet();
  options.report_waiting_after = 100ms;
  options.report_unmatched_after = 100ms;
  options.nodes_come_later = true;
  SchedulingExecutor executor{options};
  executor.set_timing(
      rule("callbacks:\n"
           "  - {node: /guard, kind: timer, priority: 30}\n"
           "  - {node: /gaurd, kind: timer, priority: 30}\n"));
  executor.add_node(container);
  {
    Spinning spinning{executor};
    EXPECT_TRUE(eventually([&] { return !executor.callbacks().empty(); }));
    std::this_thread::sleep_for(2500ms);  // two looks for what is not told
    EXPECT_EQ(reported("timing.yaml:"), 0);
    EXPECT_EQ(executor.unmatched().size(), 2U);
  }
  EXPECT_EQ(reported("timing.yaml:"), 0);
  Spinning spinning{executor};
  const auto guard = std::make_shared<rclcpp::Node>("guard");
  const auto timer = guard->create_wall_timer(1h, [] {});
  executor.add_node(guard);
  EXPECT_TRUE(eventually([&] { return reported("timing.yaml:") > 0; }));
  spinning.end();
  EXPECT_EQ(reported("timing.yaml:3: no node '/gaurd' yet"), 1);
  EXPECT_EQ(reported("timing.yaml:"), 1);
}

// In the time between the nodes' coming and the telling, more may come.
TEST_F(TimingOfExecutor, theLastNodesComingIsWaitedFor) {
  const auto first = std::make_shared<rclcpp::Node>("first");
  auto options = quiet();
  options.report_waiting_after = 100ms;
  options.report_unmatched_after = 1h;
  SchedulingExecutor executor{options};
  executor.set_timing(rule("callbacks: [{node: /second, priority: 30}]"));
  executor.add_node(first);
  Spinning spinning{executor};
  std::this_thread::sleep_for(2500ms);
  EXPECT_EQ(reported("timing.yaml:"), 0);
  const auto second = std::make_shared<rclcpp::Node>("second");
  executor.add_node(second);
  EXPECT_TRUE(eventually([&] { return executor.unmatched().empty(); }));
  spinning.end();
  EXPECT_EQ(reported("timing.yaml:"), 0);
}

TEST_F(TimingOfExecutor, aShortSpinReportsAtItsEnd) {
  const auto node = std::make_shared<rclcpp::Node>("short");
  SchedulingExecutor executor{quiet()};
  const auto timer = node->create_wall_timer(1ms, [&] { executor.cancel(); });
  executor.set_timing(
      rule("callbacks: [{node: /shirt, priority: 30}, {kind: timer, priority: 9}]"));
  executor.add_node(node);
  executor.spin();
  EXPECT_EQ(reported("no node '/shirt' yet"), 1);
  EXPECT_EQ(reported("timing.yaml:"), 1);
}

}  // namespace
}  // namespace takt::test
