// SPDX-License-Identifier: Apache-2.0
//
// Nodes, groups and entities that come and go, and an executor that starts and stops.
#include <mutex>
#include <std_msgs/msg/int32.hpp>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

using std_msgs::msg::Int32;

class Life : public WithContext {};

TEST_F(Life, aSecondSpinIsRefusedAndCancelEndsTheFirst) {
  SchedulingExecutor executor{quiet()};
  Spinning spinning{executor};
  EXPECT_THROW(executor.spin(), std::runtime_error);
  EXPECT_TRUE(executor.is_spinning());
  spinning.end();
  EXPECT_FALSE(executor.is_spinning());
}

// Whoever stops what another thread is about to start knows nothing of how far that one is.
TEST_F(Life, cancelBeforeSpinEndsThatSpinAndNoOther) {
  const auto node = std::make_shared<::rclcpp::Node>("cancelled");
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
TEST_F(Life, cancelOfWhatSpinsOtherwiseEndsNoSpin) {
  const auto node = std::make_shared<::rclcpp::Node>("some");
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
TEST_F(Life, cancelEndsSpinAlsoWhereItLeavesTheFlagOfSpinning) {
  class Later : public SchedulingExecutor {
   public:
    using SchedulingExecutor::SchedulingExecutor;
    void cancel() override {
      SchedulingExecutor::cancel();
      spinning.store(true);
    }
  };
  const auto node = std::make_shared<::rclcpp::Node>("later");
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
      ::rclcpp::shutdown();
      return;
    }
    EXPECT_FALSE(executor.is_spinning());
  }
}

TEST_F(Life, aNodeMovesBetweenExecutorsThatSpin) {
  const auto node = std::make_shared<::rclcpp::Node>("guest");
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

TEST_F(Life, theEndOfTheContextEndsSpin) {
  const auto node = std::make_shared<::rclcpp::Node>("ends");
  const auto timer = node->create_wall_timer(5ms, [] { ::rclcpp::shutdown(); });
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  executor.spin();
  EXPECT_FALSE(::rclcpp::ok());
}

TEST_F(Life, whatACallbackThrowsLeavesSpinAndItCanSpinAgain) {
  const auto node = std::make_shared<::rclcpp::Node>("throws");
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

TEST_F(Life, spinAndSpinSomeTakeTurnsAndNoMessageIsLost) {
  const auto node = std::make_shared<::rclcpp::Node>("turns");
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

TEST_F(Life, nodesThatComeWhileItSpinsAreHeard) {
  SchedulingExecutor executor{quiet()};
  Spinning spinning{executor};
  std::vector<::rclcpp::Node::SharedPtr> nodes;
  std::vector<::rclcpp::TimerBase::SharedPtr> timers;
  std::atomic<int> calls{0};
  for (int i = 0; i < 20; ++i) {
    nodes.push_back(std::make_shared<::rclcpp::Node>("node" + std::to_string(i)));
    timers.push_back(nodes.back()->create_wall_timer(1h, [&] { ++calls; }));
    executor.add_node(nodes.back());
    const auto seen = std::make_shared<std::atomic<bool>>(false);
    timers.push_back(nodes.back()->create_wall_timer(
        1ms, [&calls, seen] { calls += seen->exchange(true) ? 0 : 1; }));
    ASSERT_TRUE(eventually([&] { return calls == i + 1; })) << calls;
  }
  for (const auto& node : nodes) {
    executor.remove_node(node);
  }
  ASSERT_TRUE(eventually([&] { return executor.callbacks().empty(); }));
}

// As a component that is unloaded and loaded again: entries of a timing file say of it what they
// said before.
TEST_F(Life, aNodeThatComesAgainHasItsDefaultGroupFirst) {
  SchedulingExecutor executor{quiet()};
  std::mutex mutex;
  std::vector<std::size_t> groups;
  executor.set_timing([&](const CallbackId& id) {
    if (id.kind == CallbackKind::timer) {
      const std::lock_guard lock{mutex};
      groups.push_back(id.group);
    }
    return Timing{};
  });
  Spinning spinning{executor};
  for (int round = 0; round < 3; ++round) {
    auto node = std::make_shared<::rclcpp::Node>("again");
    std::atomic<int> calls{0};
    auto timer = node->create_wall_timer(1ms, [&] { ++calls; });
    auto group = node->create_callback_group(::rclcpp::CallbackGroupType::MutuallyExclusive);
    auto other = node->create_wall_timer(1h, [] {}, group);
    executor.add_node(node);
    ASSERT_TRUE(eventually([&] { return calls > 3; }));
    executor.remove_node(node);
    const auto is_gone = executor.when_gone();
    ASSERT_TRUE(eventually([&] { return is_gone(); }));
  }
  spinning.end();
  EXPECT_EQ(groups, (std::vector<std::size_t>{0, 1, 0, 1, 0, 1}));
}

// Whoever spins may look at a node in the middle of add_node().
TEST_F(Life, nodesThatComeWhileItSpinsAreKnownByName) {
  std::vector<::rclcpp::Node::SharedPtr> nodes;
  for (int i = 0; i < 30; ++i) {
    nodes.push_back(std::make_shared<::rclcpp::Node>(
        "named" + std::to_string(i),
        ::rclcpp::NodeOptions{}.start_parameter_services(false).start_parameter_event_publisher(
            false)));
  }
  SchedulingExecutor executor{quiet()};
  std::atomic<int> nameless{0};
  executor.set_timing([&](const CallbackId& id) {
    nameless += id.node.empty() ? 1 : 0;
    return Timing{};
  });
  Spinning spinning{executor};
  for (const auto& node : nodes) {
    const std::size_t before = executor.callbacks().size();
    executor.add_node(node);
    ASSERT_TRUE(eventually([&] { return executor.callbacks().size() > before; }));
  }
  spinning.end();
  EXPECT_EQ(nameless, 0);
}

// Every second child goes at once, the others when they have run: making one may take longer than
// the period.
TEST_F(Life, callbacksMakeAndDestroyNodesAndEntities) {
  const auto node = std::make_shared<::rclcpp::Node>("maker");
  SchedulingExecutor executor{quiet()};
  std::atomic<int> made{0};
  std::atomic<int> heard{0};  // the last child that ran
  ::rclcpp::Node::SharedPtr child;
  ::rclcpp::TimerBase::SharedPtr child_timer;
  ::rclcpp::SubscriptionBase::SharedPtr subscription;
  const auto timer = node->create_wall_timer(3ms, [&] {
    if (made % 2 == 1 && heard != made) {
      return;
    }
    if (child != nullptr) {
      executor.remove_node(child);
    }
    child_timer.reset();
    const int number = made + 1;
    child = std::make_shared<::rclcpp::Node>("child" + std::to_string(number));
    child_timer = child->create_wall_timer(1ms, [&heard, number] { heard = number; });
    subscription = node->create_subscription<Int32>(unique("unheard"), 1, [](const Int32&) {});
    executor.add_node(child);
    made = number;
  });
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return made > 50; })) << made << " " << heard;
}

TEST_F(Life, subscriptionsThatComeAndGoHearTheirMessage) {
  const auto node = std::make_shared<::rclcpp::Node>("churn");
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

// Whatever the addresses of its groups: an entry of a timing file is said of the same one each
// time.
TEST_F(Life, timersOfDifferentGroupsAreCountedInTheOrderOfTheirGroups) {
  const auto node = std::make_shared<::rclcpp::Node>("counted");
  {  // what is freed is taken again in another order
    const auto other = std::make_shared<::rclcpp::Node>("other");
    std::vector<::rclcpp::CallbackGroup::SharedPtr> holes;
    for (int i = 0; i < 90; ++i) {
      holes.push_back(other->create_callback_group(::rclcpp::CallbackGroupType::MutuallyExclusive));
    }
    for (std::size_t i = 0; i < holes.size(); i += 3) {
      holes[i].reset();
    }
  }
  std::vector<::rclcpp::CallbackGroup::SharedPtr> groups;
  std::vector<::rclcpp::TimerBase::SharedPtr> timers;
  for (int i = 1; i <= 30; ++i) {
    groups.push_back(node->create_callback_group(::rclcpp::CallbackGroupType::MutuallyExclusive));
    timers.push_back(node->create_wall_timer(std::chrono::hours{i}, [] {}, groups.back()));
  }
  SchedulingExecutor executor{quiet()};
  std::vector<std::size_t> ordinals;
  executor.set_timing([&](const CallbackId& id) {
    if (id.kind == CallbackKind::timer) {
      EXPECT_EQ(id.period, std::chrono::hours{id.ordinal + 1});
      ordinals.push_back(id.ordinal);
    }
    return Timing{};
  });
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return executor.callbacks().size() >= 30; }));
  spinning.end();
  EXPECT_EQ(ordinals.size(), 30U);
}

TEST_F(Life, groupsThatAreAddedAloneRun) {
  const auto node = std::make_shared<::rclcpp::Node>("grouped");
  const auto group =
      node->create_callback_group(::rclcpp::CallbackGroupType::MutuallyExclusive, false);
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
  const auto node = std::make_shared<::rclcpp::Node>(
      "pointers", ::rclcpp::NodeOptions{}.use_intra_process_comms(true));
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
