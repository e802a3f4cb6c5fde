// SPDX-License-Identifier: Apache-2.0
//
// What scenarios make of the timers of a node, and what is said of callbacks while they run.
#include <rcl/timer.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "scenarios.hpp"
#include "takt/testing/temporary.hpp"
#include "takt/trace/reader.hpp"

namespace takt::test {
namespace {

using Scenarios = WithContext;

// What rcl believes of a timer is what happens to it, in each scenario and afterwards.
template <class Make>
void expect_periods_of_scenarios(const rclcpp::Node::SharedPtr& node, const Make& make_timer) {
  constexpr auto slow = 40ms;
  constexpr auto fast = 2ms;
  struct Call {
    std::int64_t expected;
    std::int64_t actual;
  };
  std::mutex mutex;
  std::vector<Call> calls;
  const rclcpp::TimerBase::SharedPtr timer = make_timer(slow, [&](const rclcpp::TimerInfo& info) {
    const std::lock_guard lock{mutex};
    calls.push_back({info.expected_call_time.nanoseconds(), info.actual_call_time.nanoseconds()});
  });
  // Enough of them to have changed over, and what came then.
  const auto calls_from_now = [&](std::size_t number) {
    {
      const std::lock_guard lock{mutex};
      calls.clear();
    }
    EXPECT_TRUE(eventually([&] {
      const std::lock_guard lock{mutex};
      return calls.size() >= number;
    }));
    const std::lock_guard lock{mutex};
    return std::vector<Call>{std::prev(calls.end(), 4), calls.end()};
  };
  const auto expect_period = [](const std::vector<Call>& all, std::chrono::nanoseconds period) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_LE(all[i].expected, all[i].actual);
      if (i > 0) {
        EXPECT_GT(all[i].expected, all[i - 1].expected);
        EXPECT_EQ((all[i].expected - all[i - 1].expected) % period.count(), 0);
      }
    }
  };
  SchedulingExecutor executor{quiet()};
  executor.set_scheduling_strategy(
      node, strategy({scenario("cruising", {}),
                      scenario("docking", {{.task = "timer0", .period = fast}})}));
  executor.add_node(node);
  {
    Spinning spinning{executor};
    expect_period(calls_from_now(4), slow);
    EXPECT_TRUE(executor.switch_to("docking"));
    expect_period(calls_from_now(60), fast);
    EXPECT_TRUE(executor.switch_to("cruising"));
    expect_period(calls_from_now(8), slow);
    EXPECT_TRUE(executor.switch_to("docking"));
    expect_period(calls_from_now(60), fast);
    spinning.end();
  }
  // Whoever executes it now.
  std::int64_t period = 0;
  ASSERT_EQ(rcl_timer_get_period(timer->get_timer_handle().get(), &period), RCL_RET_OK);
  EXPECT_EQ(std::chrono::nanoseconds{period}, slow);
  EXPECT_LE(timer->time_until_trigger(), slow);
}

TEST_F(Scenarios, changeThePeriodOfATimerAlsoForItsNode) {
  const auto node = std::make_shared<rclcpp::Node>("guard");
  expect_periods_of_scenarios(node, [&](auto period, auto callback) {
    return node->create_wall_timer(period, std::move(callback));
  });
}

TEST_F(Scenarios, changeThePeriodOfATimerOnTheClockOfItsNode) {
  const auto node = std::make_shared<rclcpp::Node>("guard");
  expect_periods_of_scenarios(node, [&](auto period, auto callback) {
    return node->create_timer(period, std::move(callback));
  });
}

// Its phase is its node's: the next point of it, and none that passed while it rested.
TEST_F(Scenarios, wakeATimerForItsNextReleaseAndForNoneBefore) {
  const Counting guard{"guard"};
  const Counting radar{"radar"};
  const TemporaryFile file;
  auto options = quiet();
  options.scheduling.trace = file.path();
  {
    SchedulingExecutor executor{options};
    executor.set_scheduling_strategy(
        guard.node, strategy({scenario("cruising", {{.task = "timer0", .active = false}}),
                              scenario("docking", {})}));
    executor.add_node(guard.node);
    executor.add_node(radar.node);
    Spinning spinning{executor};
    EXPECT_TRUE(rests(guard, radar));
    EXPECT_TRUE(executor.switch_to("docking"));
    EXPECT_TRUE(guard.goes_on());
    spinning.end();
  }
  const trace::Trace trace = trace::read_trace(file.path());
  std::optional<std::int64_t> switched;
  std::size_t releases = 0;
  for (const trace::Event& event : trace.events) {
    if (event.type == trace::EventType::scenario && event.value == 1) {
      switched = event.time;
    } else if ((event.type == trace::EventType::release || event.type == trace::EventType::skip) &&
               trace.tasks.at(event.task) == "guard.timer0") {
      ++releases;
      ASSERT_TRUE(switched);
      EXPECT_GE(event.time, *switched);
    }
  }
  EXPECT_GE(releases, 3U);
}

// A node that comes late brings along what it needs in the scenarios that there are.
TEST_F(Scenarios, saySomethingOfNodesThatComeWhileItSpins) {
  const Counting radar{"radar"};
  const Counting guard{"guard"};
  SchedulingExecutor executor{quiet()};
  executor.set_scheduling_strategy(
      strategy({scenario("cruising", {}), scenario("docking", {}), scenario("charging", {})}));
  executor.add_node(radar.node);
  Spinning spinning{executor};
  EXPECT_TRUE(executor.switch_to("docking"));
  executor.set_scheduling_strategy(
      guard.node, strategy({scenario("docking", {{.task = "timer0", .active = false}})}));
  executor.add_node(guard.node);
  EXPECT_TRUE(eventually([&] {
    const auto names = executor.callbacks();
    return std::ranges::count(names, "guard.timer0") == 1;
  }));
  EXPECT_TRUE(rests(guard, radar));
  EXPECT_TRUE(executor.switch_to("charging"));
  EXPECT_TRUE(guard.goes_on());
  EXPECT_TRUE(executor.switch_to("docking"));
  EXPECT_TRUE(rests(guard, radar));
  executor.set_scheduling_strategy(guard.node, strategy({scenario("docking", {})}));
  EXPECT_TRUE(guard.goes_on());
  EXPECT_TRUE(executor.unmatched().empty());
  // A node's callback may say so, too.
  std::atomic<bool> said{false};
  const auto timer = radar.node->create_wall_timer(1ms, [&] {
    if (!said.exchange(true)) {
      executor.set_scheduling_strategy(
          radar.node, strategy({scenario("docking", {{.task = "timer0", .active = false}})}));
    }
  });
  EXPECT_TRUE(eventually([&] { return said.load(); }));
  EXPECT_TRUE(rests(radar, guard));
  spinning.end();
}

TEST_F(Scenarios, areSettledWhileItSpins) {
  const Counting guard{"guard"};
  SchedulingExecutor executor{quiet()};
  executor.add_node(guard.node);
  const auto two = strategy({scenario("cruising", {}), scenario("docking", {})});
  {
    Spinning spinning{executor};
    EXPECT_TRUE(guard.goes_on());
    EXPECT_THROW(executor.set_scheduling_strategy(guard.node, two), std::logic_error);
    EXPECT_TRUE(guard.goes_on());
    spinning.end();
  }
  executor.set_scheduling_strategy(guard.node, two);
  Spinning spinning{executor};
  EXPECT_TRUE(guard.goes_on());
  EXPECT_THROW(executor.set_scheduling_strategy(
                   guard.node, strategy({scenario("cruising", {}), scenario("flying", {})})),
               std::logic_error);
  EXPECT_THROW(
      executor.set_scheduling_strategy(
          guard.node, strategy({scenario("cruising", {}), scenario("docking", {}, sched::edf())})),
      std::logic_error);
  EXPECT_TRUE(guard.goes_on());
  EXPECT_TRUE(executor.switch_to("docking"));
  EXPECT_TRUE(guard.goes_on());
}

}  // namespace
}  // namespace takt::test
