// SPDX-License-Identifier: Apache-2.0
//
// Nodes, groups and entities that come and go.
#include <std_msgs/msg/int32.hpp>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

using std_msgs::msg::Int32;

class Life : public WithContext {};

TEST_F(Life, aNodeMovesBetweenExecutorsThatSpin) {
  const auto node = std::make_shared<rclcpp::Node>("guest");
  const std::string topic = unique("moves");
  std::atomic<int> calls{0};
  std::atomic<int> last{-1};
  const auto timer = node->create_wall_timer(1ms, [&] { ++calls; });
  const auto in =
      node->create_subscription<Int32>(topic, 1, [&](const Int32& heard) { last = heard.data; });
  const auto out = node->create_publisher<Int32>(topic, 1);
  ASSERT_TRUE(eventually([&] { return out->get_subscription_count() == 1; }));
  SchedulingExecutor first{quiet()};
  SchedulingExecutor second{quiet()};
  Spinning spins_first{first};
  Spinning spins_second{second};
  SchedulingExecutor* host = &first;
  host->add_node(node);
  for (int move = 0; move < 50; ++move) {
    const int before = calls;
    EXPECT_TRUE(eventually([&] { return calls > before + 1; })) << "move " << move;
    out->publish(Int32{}.set__data(move));
    EXPECT_TRUE(eventually([&] { return last == move; })) << "move " << move;
    ASSERT_FALSE(spins_first.has_ended() || spins_second.has_ended());
    host->remove_node(node);
    if (move % 5 != 0) {  // else it comes back at once
      host = host == &first ? &second : &first;
    }
    host->add_node(node);
  }
}

// It collects what it has as rclcpp's executors do, and may not find it with the one that spins.
TEST_F(Life, aNodeMovesToAnExecutorThatDoesNotSpin) {
  const auto node = std::make_shared<rclcpp::Node>("guest");
  const auto in = node->create_subscription<Int32>(unique("moves"), 1, [](const Int32&) {});
  for (int move = 0; move < 20; ++move) {
    SchedulingExecutor first{quiet()};
    SchedulingExecutor second{quiet()};
    first.add_node(node);
    const Spinning spinning{first};
    first.remove_node(node);
    ASSERT_NO_THROW(second.add_node(node)) << "move " << move;
    second.remove_node(node);
  }
}

// As actions do it with the one of their expiry: without the lock that rclcpp has for it.
TEST_F(Life, aTimerIsResetBelowRclcppWhileItsNodeComesAndGoes) {
  const auto node = std::make_shared<rclcpp::Node>("guest");
  const auto timer = node->create_wall_timer(1h, [] {});
  const auto handle = std::const_pointer_cast<rcl_timer_t>(timer->get_timer_handle());
  std::atomic<bool> ends{false};
  std::thread action{[&] {
    while (!ends) {
      EXPECT_EQ(rcl_timer_reset(handle.get()), RCL_RET_OK);
    }
  }};
  SchedulingExecutor executor{quiet()};
  Spinning spinning{executor};
  for (int coming = 0; coming < 100; ++coming) {
    executor.add_node(node);
    ASSERT_TRUE(eventually([&] { return !executor.callbacks().empty(); }));
    executor.remove_node(node);
    const auto is_gone = executor.when_gone();
    ASSERT_TRUE(eventually([&] { return is_gone(); }));
  }
  ends = true;
  action.join();
}

// They take the names of those in whose place they come.
TEST_F(Life, timersThatAreMadeAnewAreCalledInTheNextSpinAndInThisOne) {
  const auto node = std::make_shared<rclcpp::Node>("anew");
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  std::atomic<int> calls{0};
  std::vector<rclcpp::TimerBase::SharedPtr> timers(2);
  const auto make = [&] {
    calls = 0;
    for (auto& timer : timers) {
      timer = rclcpp::create_timer(node, node->get_clock(), 1ms, [&] { ++calls; });
    }
  };
  for (int spin = 0; spin < 3; ++spin) {
    make();
    Spinning spinning{executor};
    EXPECT_TRUE(eventually([&] { return calls > 10; })) << "spin " << spin;
    make();
    EXPECT_TRUE(eventually([&] { return calls > 10; })) << "while it spins, " << spin;
    spinning.end();
  }
}

TEST_F(Life, nodesThatComeWhileItSpinsAreHeard) {
  SchedulingExecutor executor{quiet()};
  Spinning spinning{executor};
  std::vector<rclcpp::Node::SharedPtr> nodes;
  std::vector<rclcpp::TimerBase::SharedPtr> timers;
  std::atomic<int> calls{0};
  for (int i = 0; i < 20; ++i) {
    nodes.push_back(std::make_shared<rclcpp::Node>("node" + std::to_string(i)));
    timers.push_back(nodes.back()->create_wall_timer(1h, [&] { ++calls; }));
    executor.add_node(nodes.back());
    const auto called = std::make_shared<std::atomic<bool>>(false);
    timers.push_back(nodes.back()->create_wall_timer(
        1ms, [&calls, called] { calls += called->exchange(true) ? 0 : 1; }));
    ASSERT_TRUE(eventually([&] { return calls == i + 1; })) << calls;
  }
  for (const auto& node : nodes) {
    executor.remove_node(node);
  }
  ASSERT_TRUE(eventually([&] { return executor.callbacks().empty(); }));
}

// Every second child goes at once, the others when they have run: making one may take longer than
// the period.
TEST_F(Life, callbacksMakeAndDestroyNodesAndEntities) {
  const auto node = std::make_shared<rclcpp::Node>("maker");
  SchedulingExecutor executor{quiet()};
  std::atomic<int> sent{0};
  std::atomic<int> heard{0};  // the last child that ran
  rclcpp::Node::SharedPtr child;
  rclcpp::TimerBase::SharedPtr child_timer;
  rclcpp::SubscriptionBase::SharedPtr subscription;
  const auto timer = node->create_wall_timer(3ms, [&] {
    if (sent % 2 == 1 && heard != sent) {
      return;
    }
    if (child != nullptr) {
      executor.remove_node(child);
    }
    child_timer.reset();
    const int number = sent + 1;
    child = std::make_shared<rclcpp::Node>("child" + std::to_string(number));
    child_timer = child->create_wall_timer(1ms, [&heard, number] { heard = number; });
    subscription = node->create_subscription<Int32>(unique("unheard"), 1, [](const Int32&) {});
    executor.add_node(child);
    sent = number;
  });
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return sent > 50; })) << sent << " " << heard;
}

TEST_F(Life, subscriptionsThatComeAndGoHearTheirMessage) {
  const auto node = std::make_shared<rclcpp::Node>("churn");
  const auto out = node->create_publisher<Int32>(unique("churn"), 1);
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  for (int i = 0; i < 300; ++i) {
    // Its callback may still run when it has gone.
    const auto heard = std::make_shared<std::atomic<int>>(0);
    const auto in = node->create_subscription<Int32>(
        unique("churn"), 1,
        [heard, i](const Int32& message) { *heard += message.data == i ? 1 : 0; });
    ASSERT_TRUE(eventually([&] {
      out->publish(Int32{}.set__data(i));
      return *heard > 0;
    }));
  }
  EXPECT_LT(executor.callbacks().size(), 30U);
}

TEST_F(Life, groupsThatAreAddedAloneRun) {
  const auto node = std::make_shared<rclcpp::Node>("grouped");
  const auto group =
      node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive, false);
  std::atomic<int> calls{0};
  std::atomic<int> others{0};
  const auto timer = node->create_wall_timer(1ms, [&] { ++calls; }, group);
  const auto other = node->create_wall_timer(1ms, [&] { ++others; });
  SchedulingExecutor executor{quiet()};
  executor.add_callback_group(group, node->get_node_base_interface());
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return calls > 10; }));
  executor.remove_callback_group(group);
  EXPECT_TRUE(eventually([&] { return executor.callbacks().empty(); }));
  EXPECT_EQ(others, 0);
}

TEST_F(Life, intraProcessMessagesAreHeard) {
  const auto node = std::make_shared<rclcpp::Node>(
      "pointers", rclcpp::NodeOptions{}.use_intra_process_comms(true));
  std::atomic<int> heard{0};
  std::atomic<const Int32*> address{nullptr};
  std::atomic<int> same{0};
  const auto in =
      node->create_subscription<Int32>(unique("pointers"), 10, [&](Int32::UniquePtr message) {
        same += message.get() == address ? 1 : 0;
        ++heard;
      });
  const auto out = node->create_publisher<Int32>(unique("pointers"), 10);
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  for (int i = 1; i <= 100; ++i) {
    auto message = std::make_unique<Int32>();
    address = message.get();
    out->publish(std::move(message));
    ASSERT_TRUE(eventually([&] { return heard == i; }));
  }
  EXPECT_EQ(same, 100);
}

}  // namespace
}  // namespace takt::test
