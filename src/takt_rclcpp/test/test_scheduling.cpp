// SPDX-License-Identifier: Apache-2.0
//
// Unmodified nodes under priorities and deadlines.
#include <algorithm>
#include <map>
#include <mutex>
#include <std_msgs/msg/int32.hpp>
#include <vector>

#include "support.hpp"
#include "takt/sched/error.hpp"

namespace takt::test {
namespace {

using std_msgs::msg::Int32;

class Scheduling : public WithContext {
 protected:
  SchedulingExecutor* executor_ = nullptr;
};

takt_rclcpp::TimingRule by_node(std::map<std::string, Timing> timings) {
  return [timings = std::move(timings)](const CallbackId& id) {
    const auto found = timings.find(id.node);
    return found == timings.end() || id.housekeeping ? Timing{} : found->second;
  };
}

TEST_F(Scheduling, timersRunAndSubscriptionsHearEveryMessage) {
  const auto node = std::make_shared<rclcpp::Node>("talker");
  std::atomic<int> heard{0};
  std::atomic<int> sent{0};
  const auto out = node->create_publisher<Int32>(unique("numbers"), 100);
  const auto in = node->create_subscription<Int32>(
      unique("numbers"), 100, [&](const Int32& message) { heard += message.data; });
  const auto timer = node->create_wall_timer(1ms, [&] {
    if (sent < 50) {
      out->publish(Int32{}.set__data(1));
      ++sent;
    }
  });
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return heard == 50; })) << heard << " of " << sent;
  spinning.end();
  EXPECT_EQ(executor.statistics("talker.subscription:/" + unique("numbers")).completed, 50U);
}

// rclcpp's executors run a callback to its end before the next one (rclcpp#392).
TEST_F(Scheduling, anUrgentCallbackPreemptsALongOne) {
  if (const auto why = no_fifo()) {
    GTEST_SKIP() << *why;
  }
  const auto slow = std::make_shared<rclcpp::Node>("slow");
  const auto fast = std::make_shared<rclcpp::Node>("fast");
  std::atomic<bool> burning{false};
  std::atomic<int> meanwhile{0};
  std::atomic<bool> done{false};
  const auto long_one = slow->create_wall_timer(1ms, [&] {
    burning = true;
    const auto end = os::now() + 10s;
    while (meanwhile < 3 && os::now() < end) {
    }
    burning = false;
    done = true;
    executor_->cancel();
  });
  const auto urgent = fast->create_wall_timer(2ms, [&] { meanwhile += burning ? 1 : 0; });
  SchedulingExecutor executor{quiet()};
  executor_ = &executor;
  executor.set_timing(by_node({{"/slow", {.priority = 10}}, {"/fast", {.priority = 30}}}));
  executor.add_node(slow);
  executor.add_node(fast);
  executor.spin();
  EXPECT_TRUE(done);
  EXPECT_GE(meanwhile, 3);
}

TEST_F(Scheduling, underEdfTheEarlierDeadlinePreempts) {
  if (const auto why = no_fifo()) {
    GTEST_SKIP() << *why;
  }
  const auto slow = std::make_shared<rclcpp::Node>("slow");
  const auto fast = std::make_shared<rclcpp::Node>("fast");
  std::atomic<bool> burning{false};
  std::atomic<int> meanwhile{0};
  const auto long_one = slow->create_wall_timer(500ms, [&] {
    burning = true;
    const auto end = os::now() + 10s;
    while (meanwhile < 3 && os::now() < end) {
    }
    burning = false;
    executor_->cancel();
  });
  const auto urgent = fast->create_wall_timer(2ms, [&] { meanwhile += burning ? 1 : 0; });
  auto options = quiet();
  options.scheduling.policy = sched::edf();
  SchedulingExecutor executor{options};
  executor_ = &executor;
  executor.add_node(slow);
  executor.add_node(fast);
  executor.spin();
  EXPECT_GE(meanwhile, 3);
}

// Also those that ask for what nobody says of services: periods.
TEST_F(Scheduling, aPlainNodeRunsUnderEveryPolicyThatNeedsNoExecutionTimes) {
  for (const char* const policy : {"fp", "edf", "rm", "dm", "np-fp", "np-edf"}) {
    const auto node = std::make_shared<rclcpp::Node>("plain");
    const std::string topic = unique(std::string{"numbers_"} + policy[0] + policy[1]);
    std::atomic<int> heard{0};
    const auto out = node->create_publisher<Int32>(topic, 10);
    const auto in = node->create_subscription<Int32>(topic, 10, [&](const Int32&) { ++heard; });
    const auto timer = node->create_wall_timer(2ms, [&] { out->publish(Int32{}); });
    auto options = quiet();
    options.scheduling.policy = sched::parse_policy(policy);
    SchedulingExecutor executor{options};
    executor.add_node(node);
    Spinning spinning{executor};
    EXPECT_TRUE(eventually([&] { return heard > 5 || spinning.has_ended(); }));
    EXPECT_NO_THROW(spinning.end()) << policy;
    EXPECT_GT(heard, 5) << policy;
  }
}

// Eight callbacks of one group, two of them with threads of their own, released as fast as they go.
TEST_F(Scheduling, callbacksOfAGroupNeverRunTwiceAtOnce) {
  const auto node = std::make_shared<rclcpp::Node>("group");
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<int> runs{0};
  std::vector<rclcpp::TimerBase::SharedPtr> timers;
  for (int i = 0; i < 8; ++i) {
    timers.push_back(node->create_wall_timer(1ms, [&] {
      most = std::max(most.load(), ++inside);
      burn(50us);
      --inside;
      ++runs;
    }));
  }
  SchedulingExecutor executor{quiet()};
  executor.set_timing([](const CallbackId& id) {
    Timing timing{.priority = 10 + static_cast<int>(id.ordinal)};
    if (id.kind == CallbackKind::timer && id.ordinal % 4 == 0) {
      timing.waits = true;
    }
    return timing;
  });
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return runs > 400; }));
  spinning.end();
  EXPECT_EQ(most, 1);
}

TEST_F(Scheduling, whatATimerReadsIsDeliveredBeforeIt) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  const std::string topic = unique("fresh");
  std::mutex mutex;
  std::vector<std::string> order;
  std::atomic<int> rounds{0};
  const auto out = node->create_publisher<Int32>(topic, 10);
  const auto in = node->create_subscription<Int32>(topic, 10, [&](const Int32&) {
    const std::lock_guard lock{mutex};
    order.emplace_back("message");
  });
  // Higher than the subscription: without reading it would come first.
  const auto timer = node->create_wall_timer(2ms, [&] {
    const std::lock_guard lock{mutex};
    order.emplace_back("timer");
    out->publish(Int32{});
    ++rounds;
  });
  SchedulingExecutor executor{quiet()};
  executor.set_timing([&](const CallbackId& id) {
    Timing timing{.priority = id.kind == CallbackKind::timer ? 40 : 2};
    if (id.kind == CallbackKind::timer) {
      timing.reads = {{.topic = "/" + topic}};
    }
    return timing;
  });
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return rounds > 20; }));
  spinning.end();
  const auto statistics = executor.statistics("reader.timer0");
  EXPECT_GE(statistics.completed, 20U);
  // Every message has been heard once, by the timer or by its own job.
  const auto heard = std::ranges::count(order, "message");
  EXPECT_GE(heard, rounds - 2);
  EXPECT_LE(heard, rounds);
}

TEST_F(Scheduling, aTopicThatTheNodeDoesNotReadIsRefused) {
  const auto node = std::make_shared<rclcpp::Node>("reader");
  const auto timer = node->create_wall_timer(2ms, [] {});
  SchedulingExecutor executor{quiet()};
  executor.set_timing([](const CallbackId& id) {
    return id.kind == CallbackKind::timer ? Timing{.reads = {{.topic = "/nowhere"}}} : Timing{};
  });
  executor.add_node(node);
  try {
    executor.spin();
    FAIL() << "nothing was refused";
  } catch (const takt::sched::ScheduleError& error) {
    EXPECT_NE(std::string{error.what()}.find("'/reader' has no subscription"), std::string::npos)
        << error.what();
  }
  EXPECT_FALSE(executor.is_spinning());
}

// Each once, when its node is added, or when it is met.
TEST_F(Scheduling, aReentrantGroupIsReported) {
  static std::mutex mutex;
  static std::vector<std::string> reported;
  reported.clear();
  rcutils_logging_set_output_handler([](const rcutils_log_location_t*, int severity, const char*,
                                        rcutils_time_point_value_t, const char* format,
                                        va_list* arguments) {
    char text[1024];
    vsnprintf(text, sizeof text, format, *arguments);
    if (severity == RCUTILS_LOG_SEVERITY_INFO &&
        std::string{text}.find("is Reentrant") != std::string::npos) {
      const std::lock_guard lock{mutex};
      reported.emplace_back(text);
    }
  });
  const auto count = [] {
    const std::lock_guard lock{mutex};
    return reported.size();
  };
  const auto node = std::make_shared<rclcpp::Node>("twice");
  const auto exclusive = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
  const auto first = node->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  ASSERT_EQ(count(), 1U);
  EXPECT_NE(reported.front().find("callback group 2 of node '/twice'"), std::string::npos)
      << reported.front();
  Spinning spinning{executor};
  const auto second = node->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
  EXPECT_TRUE(eventually([&] { return count() == 2; }));
  spinning.end();
  rcutils_logging_set_output_handler(rcutils_logging_console_output_handler);
  EXPECT_EQ(count(), 2U);
}

// What belongs to the node itself raises no ceiling: it has the lowest priority.
TEST_F(Scheduling, theNodesOwnServicesAreLowest) {
  const auto node = std::make_shared<rclcpp::Node>("plain");
  std::mutex mutex;
  std::vector<CallbackId> met;
  SchedulingExecutor executor{quiet()};
  executor.set_timing([&](const CallbackId& id) {
    const std::lock_guard lock{mutex};
    met.push_back(id);
    return Timing{};
  });
  const auto timer = node->create_wall_timer(1ms, [&] { executor.cancel(); });
  executor.add_node(node);
  executor.spin();
  EXPECT_EQ(std::ranges::count_if(met, [](const CallbackId& id) { return id.housekeeping; }),
            static_cast<std::ptrdiff_t>(met.size()) - 1);
  EXPECT_GE(met.size(), 8U);
}

}  // namespace
}  // namespace takt::test
