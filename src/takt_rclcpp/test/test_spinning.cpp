// SPDX-License-Identifier: Apache-2.0
//
// An executor that starts and stops, and who may end it.
#include <std_msgs/msg/int32.hpp>

#include "support.hpp"

namespace takt::test {
namespace {

using std_msgs::msg::Int32;

class Spin : public WithContext {};

TEST_F(Spin, aSecondSpinIsRefusedAndCancelEndsTheFirst) {
  SchedulingExecutor executor{quiet()};
  Spinning spinning{executor};
  EXPECT_THROW(executor.spin(), std::runtime_error);
  EXPECT_TRUE(executor.is_spinning());
  spinning.end();
  EXPECT_FALSE(executor.is_spinning());
}

// Whoever stops what another thread is about to start knows nothing of how far that one is.
TEST_F(Spin, cancelBeforeSpinEndsThatSpinAndNoOther) {
  const auto node = std::make_shared<rclcpp::Node>("cancelled");
  std::atomic<int> calls{0};
  const auto timer = node->create_wall_timer(1ms, [&] { ++calls; });
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  for (int round = 0; round < 10; ++round) {
    executor.cancel();
    executor.cancel();
    auto done = std::async(std::launch::async, [&] { executor.spin(); });
    const bool has_ended = done.wait_for(60s) == std::future_status::ready;
    EXPECT_TRUE(has_ended) << "round " << round;
    if (!has_ended) {
      executor.cancel();
      return;
    }
    const int before = calls;
    Spinning spinning{executor};
    EXPECT_TRUE(eventually([&] { return calls > before + 3; }));
    spinning.end();
  }
}

// What spins by the base class ends with it: the next spin() is another one.
TEST_F(Spin, cancelOfWhatSpinsOtherwiseEndsNoSpin) {
  const auto node = std::make_shared<rclcpp::Node>("some");
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  std::atomic<int> calls{0};
  const auto timer = node->create_wall_timer(1ms, [&] {
    ++calls;
    executor.cancel();
  });
  EXPECT_TRUE(eventually([&] {
    executor.spin_some();
    return calls > 0;
  }));
  timer->cancel();
  const auto other = node->create_wall_timer(1ms, [&] { calls = -1; });
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return calls == -1; }));
}

// Later versions of rclcpp leave it to spin() itself. Here the flag is back before spin() can end.
TEST_F(Spin, cancelEndsSpinAlsoWhereItLeavesTheFlagOfSpinning) {
  class Later : public SchedulingExecutor {
   public:
    using SchedulingExecutor::SchedulingExecutor;
    void cancel() override {
      SchedulingExecutor::cancel();
      spinning.store(true);
    }
  };
  const auto node = std::make_shared<rclcpp::Node>("later");
  std::atomic<bool> inside{false};
  std::atomic<bool> may_end{false};
  const auto timer = node->create_wall_timer(1ms, [&] {
    inside = true;
    static_cast<void>(eventually([&] { return may_end.load(); }));
  });
  Later executor{quiet()};
  executor.add_node(node);
  for (int round = 0; round < 3; ++round) {
    inside = false;
    may_end = false;
    auto done = std::async(std::launch::async, [&] { executor.spin(); });
    EXPECT_TRUE(eventually([&] { return inside.load(); }));
    executor.cancel();
    may_end = true;
    const bool has_ended = done.wait_for(60s) == std::future_status::ready;
    EXPECT_TRUE(has_ended);
    if (!has_ended) {
      rclcpp::shutdown();
      return;
    }
    EXPECT_FALSE(executor.is_spinning());
  }
}

TEST_F(Spin, theEndOfTheContextEndsSpin) {
  const auto node = std::make_shared<rclcpp::Node>("ends");
  const auto timer = node->create_wall_timer(5ms, [] { rclcpp::shutdown(); });
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  executor.spin();
  EXPECT_FALSE(rclcpp::ok());
}

TEST_F(Spin, whatACallbackThrowsLeavesSpinAndItCanSpinAgain) {
  const auto node = std::make_shared<rclcpp::Node>("throws");
  std::atomic<int> calls{0};
  const auto timer = node->create_wall_timer(2ms, [&] {
    ++calls;
    throw std::domain_error{"no"};
  });
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_THROW(executor.spin(), std::domain_error);
    EXPECT_EQ(calls, i);
    EXPECT_FALSE(executor.is_spinning());
  }
}

TEST_F(Spin, spinAndSpinSomeTakeTurnsAndNoMessageIsLost) {
  const auto node = std::make_shared<rclcpp::Node>("turns");
  std::atomic<int> heard{0};
  const auto out = node->create_publisher<Int32>(unique("turns"), 100);
  const auto in =
      node->create_subscription<Int32>(unique("turns"), 100, [&](const Int32&) { ++heard; });
  ASSERT_TRUE(eventually([&] { return out->get_subscription_count() == 1; }));
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  int sent = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 3; ++i, ++sent) {  // before anybody spins
      out->publish(Int32{});
    }
    {
      Spinning spinning{executor};
      for (int i = 0; i < 3; ++i, ++sent) {
        out->publish(Int32{});
      }
      if (round % 2 == 0) {  // else it stops with messages that nobody has looked at
        EXPECT_TRUE(eventually([&] { return heard == sent; })) << heard << " of " << sent;
      }
      spinning.end();
    }
    EXPECT_TRUE(eventually([&] {
      executor.spin_some();
      return heard == sent;
    })) << heard
        << " of " << sent;
  }
}

}  // namespace
}  // namespace takt::test
