// SPDX-License-Identifier: Apache-2.0
//
// Timers on each kind of clock. ROS time is set by the tests themselves, so that how often a timer
// was called says exactly whose time it followed.
#include <rcl/error_handling.h>
#include <rcl/time.h>

#include <algorithm>

#include "support.hpp"

namespace takt::test {
namespace {

// A node whose ROS time is what the test says.
class SimulatedTime : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    node = std::make_shared<rclcpp::Node>("simulated");
    clock = node->get_clock();
  }

  void activate() {
    const std::lock_guard lock{clock->get_clock_mutex()};
    ASSERT_EQ(rcl_enable_ros_time_override(clock->get_clock_handle()), RCL_RET_OK);
  }
  void deactivate() {
    const std::lock_guard lock{clock->get_clock_mutex()};
    ASSERT_EQ(rcl_disable_ros_time_override(clock->get_clock_handle()), RCL_RET_OK);
  }
  void set(std::chrono::nanoseconds time) {
    const std::lock_guard lock{clock->get_clock_mutex()};
    ASSERT_EQ(rcl_set_ros_time_override(clock->get_clock_handle(), time.count()), RCL_RET_OK);
  }

  rclcpp::Node::SharedPtr node;
  rclcpp::Clock::SharedPtr clock;
};

TEST_F(SimulatedTime, aTimerIsCalledOnceEachPeriodOfItsClock) {
  activate();
  set(100s);
  std::atomic<int> calls{0};
  const auto timer = rclcpp::create_timer(node, clock, 100ms, [&] { ++calls; });
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  // Half, one and two times as fast as the wall, were it as fast as that; and far faster.
  std::chrono::nanoseconds now = 100s;
  for (const auto step : {5ms, 10ms, 20ms, 50ms}) {
    for (int i = 0; i < 40; ++i) {
      now += step;
      set(now);
      ASSERT_TRUE(eventually([&] { return calls >= (now - 100s) / 100ms; })) << calls;
    }
  }
  EXPECT_EQ(calls, (now - 100s) / 100ms);
}

TEST_F(SimulatedTime, aTimerRestsWhileTimePauses) {
  activate();
  set(100s);
  std::atomic<int> calls{0};
  std::atomic<int> others{0};
  const auto timer = rclcpp::create_timer(node, clock, 1ms, [&] { ++calls; });
  const auto wall = node->create_wall_timer(1ms, [&] { ++others; });
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return others > 50; }));
  EXPECT_EQ(calls, 0);
  set(100s + 1ms);
  EXPECT_TRUE(eventually([&] { return calls == 1; }));
  const int before = others;
  EXPECT_TRUE(eventually([&] { return others > before + 50; }));
  EXPECT_EQ(calls, 1);
}

TEST_F(SimulatedTime, afterAJumpBackTheNextCallIsAPeriodLater) {
  activate();
  set(100s);
  std::atomic<int> calls{0};
  const auto timer = rclcpp::create_timer(node, clock, 100ms, [&] { ++calls; });
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  set(100s + 100ms);
  ASSERT_TRUE(eventually([&] { return calls == 1; }));
  set(50s);
  set(50s + 99ms);
  set(50s + 100ms);
  ASSERT_TRUE(eventually([&] { return calls == 2; }));
  // A jump ahead over many periods is one call, as rcl has it.
  set(60s);
  ASSERT_TRUE(eventually([&] { return calls == 3; }));
  set(60s + 99ms);
  set(60s + 100ms);
  ASSERT_TRUE(eventually([&] { return calls == 4; }));
  EXPECT_EQ(calls, 4);
}

TEST_F(SimulatedTime, aTimerFollowsWhenTimeBecomesSimulatedAndBack) {
  std::atomic<int> calls{0};
  const auto timer = rclcpp::create_timer(node, clock, 2ms, [&] { ++calls; });
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  ASSERT_TRUE(eventually([&] { return calls > 20; }));
  activate();
  set(100s);
  set(200s);
  const auto rests = [&] {
    const int before = calls;
    os::sleep_until(os::now() + 20ms);
    return calls == before;
  };
  ASSERT_TRUE(eventually(rests));
  const int before = calls;
  set(200s + 2ms);
  ASSERT_TRUE(eventually([&] { return calls > before; }));
  deactivate();
  const int then = calls;
  ASSERT_TRUE(eventually([&] { return calls > then + 20; }));
  timer->cancel();
  ASSERT_TRUE(eventually(rests));
  const int cancelled = calls;
  timer->reset();
  ASSERT_TRUE(eventually([&] { return calls > cancelled + 20; }));
}

TEST_F(SimulatedTime, cancelAndResetAreFollowed) {
  activate();
  set(100s);
  std::atomic<int> calls{0};
  const auto timer = rclcpp::create_timer(node, clock, 10ms, [&] { ++calls; });
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  set(100s + 10ms);
  ASSERT_TRUE(eventually([&] { return calls == 1; }));
  timer->cancel();
  set(100s + 50ms);
  timer->reset();
  set(100s + 59ms);
  set(100s + 60ms);
  ASSERT_TRUE(eventually([&] { return calls == 2; }));
}

class SteadyTime : public WithContext {};

TEST_F(SteadyTime, aTimerWithoutPeriodIsAlwaysDue) {
  const auto node = std::make_shared<rclcpp::Node>("always");
  std::atomic<int> calls{0};
  SchedulingExecutor executor{quiet()};
  const auto timer = node->create_wall_timer(0ms, [&] {
    if (++calls == 1000) {
      executor.cancel();
    }
  });
  executor.add_node(node);
  executor.spin();
  EXPECT_GE(calls, 1000);
}

// No call before its time, and the times are those that the timer itself expects.
TEST_F(SteadyTime, aTimerIsNeverEarly) {
  const auto node = std::make_shared<rclcpp::Node>("grid");
  std::atomic<int> calls{0};
  std::atomic<int> early{0};
  SchedulingExecutor executor{quiet()};
  const auto timer = node->create_wall_timer(3ms, [&](const rclcpp::TimerInfo& info) {
    early += info.actual_call_time < info.expected_call_time ? 1 : 0;
    if (++calls == 100) {
      executor.cancel();
    }
  });
  executor.add_node(node);
  executor.spin();
  EXPECT_EQ(early, 0);
}

TEST_F(SteadyTime, aTimerThatIsResetFromElsewhereStartsItsPeriodAnew) {
  const auto node = std::make_shared<rclcpp::Node>("reset");
  std::atomic<int> calls{0};
  SchedulingExecutor executor{quiet()};
  const auto timer = node->create_wall_timer(1h, [&] { ++calls; });
  const auto often = node->create_wall_timer(2ms, [] {});
  executor.add_node(node);
  Spinning spinning{executor};
  for (int i = 0; i < 200; ++i) {
    timer->cancel();
    often->reset();
    timer->reset();
  }
  const auto has_run = [&] {  // it is spinning before it has its callbacks
    return std::ranges::count(executor.callbacks(), "reset.timer1") != 0 &&
           executor.statistics("reset.timer1").completed > 5;
  };
  ASSERT_TRUE(eventually(has_run));
  EXPECT_EQ(calls, 0);
  EXPECT_GT(timer->time_until_trigger(), 50min);
}

TEST_F(SteadyTime, aTimerCancelledInItsCallbackRestsUntilItIsReset) {
  const auto node = std::make_shared<rclcpp::Node>("once");
  std::atomic<int> calls{0};
  rclcpp::TimerBase::SharedPtr timer;
  timer = node->create_wall_timer(2ms, [&] {
    ++calls;
    timer->cancel();
  });
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  for (int i = 1; i <= 50; ++i) {
    ASSERT_TRUE(eventually([&] { return calls == i; })) << calls;
    timer->reset();
  }
}

// "As often as it goes" would be all of a core, at a real-time priority.
TEST_F(SimulatedTime, aPeriodOfNothingIsAShortOne) {
  std::atomic<int> calls{0};
  std::atomic<int> others{0};
  const auto never_waits = node->create_wall_timer(0ns, [&] { ++calls; });
  const auto other = node->create_wall_timer(1ms, [&] { ++others; });
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  const auto begun = os::now();
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return calls > 100 && others > 100; })) << calls << " " << others;
  const int counted = calls;
  EXPECT_LE(counted, (os::now() - begun) / 100us + 1);
}

TEST_F(SimulatedTime, aPeriodOfNothingRestsWhileTimePauses) {
  activate();
  set(100s);
  std::atomic<int> calls{0};
  std::atomic<int> others{0};
  const auto never_waits = rclcpp::create_timer(node, clock, 0ns, [&] { ++calls; });
  const auto wall = node->create_wall_timer(1ms, [&] { ++others; });
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return others > 50; }));
  for (int step = 1; step <= 20; ++step) {
    const int before = calls;
    set(100s + step * 1ms);
    EXPECT_TRUE(eventually([&] { return calls > before; }));
    EXPECT_LE(calls, step + 1);
  }
}

// rcl keeps an error for each thread, and complains on standard error where another one follows.
TEST_F(SimulatedTime, aTimerThatIsCancelledBeforeItsCallLeavesNoError) {
  std::atomic<int> calls{0};
  std::atomic<int> errors{0};
  rclcpp::TimerBase::SharedPtr second;
  const auto first = node->create_wall_timer(2ms, [&] {
    errors += rcl_error_is_set() ? 1 : 0;
    ++calls;
    second->cancel();
  });
  second = node->create_wall_timer(2ms, [] {});
  const auto other = node->create_wall_timer(3ms, [&] {
    errors += rcl_error_is_set() ? 1 : 0;
    second->reset();
    burn(2ms);  // both others are due when it has ended
  });
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return calls > 100; }));
  spinning.end();
  EXPECT_EQ(errors, 0);
}

}  // namespace
}  // namespace takt::test
