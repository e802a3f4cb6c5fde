// SPDX-License-Identifier: Apache-2.0
//
// What is told of callbacks while they run: counts, messages that were lost, the last word.
#include <diagnostic_msgs/msg/diagnostic_array.hpp>
#include <std_msgs/msg/int32.hpp>
#include <vector>

#include "support.hpp"
#include "takt/rclcpp/diagnostics.hpp"

namespace takt::test {
namespace {

using diagnostic_msgs::msg::DiagnosticArray;
using diagnostic_msgs::msg::DiagnosticStatus;
using std_msgs::msg::Int32;

std::string value_of(const DiagnosticStatus& status, const std::string& key) {
  for (const auto& pair : status.values) {
    if (pair.key == key) {
      return pair.value;
    }
  }
  return "nothing";
}

class Diagnostics : public WithContext {
 protected:
  // Hears reports on a node of its own, outside of the executor.
  std::vector<DiagnosticArray> heard() {
    std::vector<DiagnosticArray> reports;
    DiagnosticArray report;
    rclcpp::MessageInfo info;
    while (in_->take(report, info)) {
      reports.push_back(report);
    }
    return reports;
  }
  void listen() {
    listener_ = std::make_shared<rclcpp::Node>("listener");
    in_ = listener_->create_subscription<DiagnosticArray>("/diagnostics", 100,
                                                          [](const DiagnosticArray&) {});
  }

 private:
  rclcpp::Node::SharedPtr listener_;
  rclcpp::Subscription<DiagnosticArray>::SharedPtr in_;
};

TEST_F(Diagnostics, needAPeriodAboveZero) {
  const auto node = std::make_shared<rclcpp::Node>("watched");
  const SchedulingExecutor executor{quiet()};
  EXPECT_THROW((takt_rclcpp::Diagnostics{*node, executor, {.period = 0s}}), std::invalid_argument);
}

TEST_F(Diagnostics, reportNothingBeforeItSpinsAndTheLastWordAfterwards) {
  const auto node = std::make_shared<rclcpp::Node>(unique("watched"));
  std::atomic<int> calls{0};
  const auto timer = node->create_wall_timer(1ms, [&] { ++calls; });
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  EXPECT_FALSE(executor.snapshot());
  listen();
  const std::string name = "/" + unique("watched");
  std::vector<DiagnosticArray> reports;
  int found = 0;
  {
    const takt_rclcpp::Diagnostics diagnostics{*node, executor, {.period = 5ms}};
    EXPECT_TRUE(heard().empty());
    Spinning spinning{executor};
    EXPECT_TRUE(eventually([&] { return calls > 3 && !heard().empty(); }));
    spinning.end();
    found = calls;
  }
  EXPECT_TRUE(eventually([&] {
    for (const DiagnosticArray& report : heard()) {
      reports.push_back(report);
    }
    return !reports.empty() &&
           value_of(reports.back().status.at(1), "completed") == std::to_string(found);
  }));
  const DiagnosticArray& last = reports.back();
  EXPECT_EQ(last.status.at(0).name, name + ": executor");
  EXPECT_EQ(value_of(last.status.at(0), "tasks"), std::to_string(last.status.size() - 1));
  EXPECT_EQ(last.status.at(0).hardware_id, "takt");
  EXPECT_EQ(last.status.at(1).name, name + ": " + unique("watched") + ".timer0");
}

TEST_F(Diagnostics, areReportedInEachSpin) {
  const auto node = std::make_shared<rclcpp::Node>("again");
  const auto timer = node->create_wall_timer(1ms, [] {});
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  listen();
  const takt_rclcpp::Diagnostics diagnostics{*node, executor, {.period = 1ms}};
  for (int i = 0; i < 20; ++i) {
    const Spinning spinning{executor};
    EXPECT_TRUE(eventually([&] { return !heard().empty(); }));
  }
}

int lost_of(const SchedulingExecutor& executor) {
  int lost = 0;
  for (const auto& task : executor.snapshot().value_or(executor::Snapshot{}).tasks) {
    lost += static_cast<int>(task.statistics.lost_arrivals);
  }
  return lost;
}

// A queue of three: the rest has gone before the callback could run.
TEST_F(Diagnostics, countMessagesThatTheQueueDropped) {
  constexpr int many = 10;
  constexpr int kept = 3;
  for (const bool by_pointer : {true, false}) {
    SCOPED_TRACE(by_pointer);
    const auto node = std::make_shared<rclcpp::Node>(
        "drops", rclcpp::NodeOptions{}.use_intra_process_comms(by_pointer));
    std::atomic<int> heard{0};
    const auto in =
        node->create_subscription<Int32>(unique("drops"), kept, [&](const Int32&) { ++heard; });
    const auto out = node->create_publisher<Int32>(unique("drops"), many);
    ASSERT_TRUE(eventually([&] { return out->get_subscription_count() == 1; }));
    SchedulingExecutor executor{quiet()};
    std::atomic<bool> sent{false};
    // In the same group: the subscription's callback does not run meanwhile.
    const auto timer = node->create_wall_timer(1ms, [&] {
      for (int i = 0; i < many && !sent; ++i) {
        out->publish(Int32{});
      }
      if (!sent) {  // the middleware delivers when it likes
        EXPECT_TRUE(eventually([&] { return lost_of(executor) == many - kept; }));
      }
      sent = true;
    });
    executor.add_node(node);
    Spinning spinning{executor};
    EXPECT_TRUE(eventually([&] { return sent && heard == kept; })) << heard;
    spinning.end();
    EXPECT_EQ(heard, kept);
    EXPECT_EQ(lost_of(executor), many - kept);
  }
}

TEST_F(Diagnostics, haveAStatusOfEachLimit) {
  const auto node = std::make_shared<rclcpp::Node>(unique("watched"));
  const auto timer = node->create_wall_timer(2ms, [] {});
  listen();
  SchedulingExecutor executor{quiet()};
  const std::string name = unique("watched") + ".timer0";
  executor.set_limits({.callbacks = {{.callback = name, .response = 1ns}}});
  std::atomic<std::uint64_t> exceeded{0};
  executor.set_handlers(
      {.limit_exceeded = [&](const executor::LimitExceeded&) noexcept { ++exceeded; }});
  executor.add_node(node);
  const takt_rclcpp::Diagnostics diagnostics{*node, executor, {.period = 10ms}};
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return exceeded >= 20; }));
  spinning.end();
  const auto found = executor.limits();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().exceeded, exceeded);
  EXPECT_EQ(found.front().checked, exceeded);
  bool reported = false;
  for (const DiagnosticArray& report : heard()) {
    for (const DiagnosticStatus& status : report.status) {
      reported |= status.level == DiagnosticStatus::ERROR && value_of(status, "subject") == name;
    }
  }
  EXPECT_TRUE(reported);
}

}  // namespace
}  // namespace takt::test
