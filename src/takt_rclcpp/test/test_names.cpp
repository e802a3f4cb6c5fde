// SPDX-License-Identifier: Apache-2.0
//
// Which callback is which: names and numbers that a timing file can rely on.
#include <mutex>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

class Names : public WithContext {};

// As a component that is unloaded and loaded again: entries of a timing file say of it what they
// said before.
TEST_F(Names, aNodeThatComesAgainHasItsDefaultGroupFirst) {
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
    auto node = std::make_shared<rclcpp::Node>("again");
    std::atomic<int> calls{0};
    auto timer = node->create_wall_timer(1ms, [&] { ++calls; });
    auto group = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
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
TEST_F(Names, nodesThatComeWhileItSpinsAreKnownByName) {
  std::vector<rclcpp::Node::SharedPtr> nodes;
  for (int i = 0; i < 30; ++i) {
    nodes.push_back(std::make_shared<rclcpp::Node>(
        "named" + std::to_string(i),
        rclcpp::NodeOptions{}.start_parameter_services(false).start_parameter_event_publisher(
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

// Whatever the addresses of its groups: an entry of a timing file is said of the same one each
// time.
TEST_F(Names, timersOfDifferentGroupsAreCountedInTheOrderOfTheirGroups) {
  const auto node = std::make_shared<rclcpp::Node>("counted");
  {  // what is freed is taken again in another order
    const auto other = std::make_shared<rclcpp::Node>("other");
    std::vector<rclcpp::CallbackGroup::SharedPtr> holes;
    for (int i = 0; i < 90; ++i) {
      holes.push_back(other->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive));
    }
    for (std::size_t i = 0; i < holes.size(); i += 3) {
      holes[i].reset();
    }
  }
  std::vector<rclcpp::CallbackGroup::SharedPtr> groups;
  std::vector<rclcpp::TimerBase::SharedPtr> timers;
  for (int i = 1; i <= 30; ++i) {
    groups.push_back(node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive));
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

}  // namespace
}  // namespace takt::test
