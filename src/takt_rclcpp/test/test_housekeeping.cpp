// SPDX-License-Identifier: Apache-2.0
//
// What every node has that nobody asked for: it is served, and costs as much as one callback.
#include <algorithm>
#include <std_msgs/msg/int32.hpp>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

using std_msgs::msg::Int32;

class OfEveryNode : public WithContext {};

std::size_t count(const SchedulingExecutor& executor, const std::string& part_of_name) {
  const auto names = executor.callbacks();
  return static_cast<std::size_t>(std::ranges::count_if(names, [&](const std::string& name) {
    return name.find(part_of_name) != std::string::npos;
  }));
}

// Also of what comes while it spins, and goes.
TEST_F(OfEveryNode, itCountsOnceInEachGroup) {
  const auto node = std::make_shared<rclcpp::Node>("plain");
  std::atomic<int> calls{0};
  const auto timer = node->create_wall_timer(1ms, [&] { ++calls; });
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return count(executor, "plain.housekeeping") == 1; }));
  std::vector<rclcpp::PublisherBase::SharedPtr> publishers;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5; ++i) {
      publishers.push_back(node->create_publisher<Int32>(unique("p" + std::to_string(i)), 1));
    }
    const int before = calls;
    EXPECT_TRUE(eventually([&] { return calls > before + 5; }));
    publishers.clear();
  }
  EXPECT_EQ(count(executor, "plain.housekeeping"), 1U);
  EXPECT_EQ(count(executor, "qos_event"), 0U);
  EXPECT_EQ(count(executor, "service:"), 0U);
}

TEST_F(OfEveryNode, whatTheTimingSpeaksOfIsACallbackOfItsOwn) {
  const auto node = std::make_shared<rclcpp::Node>("asked");
  SchedulingExecutor executor{quiet()};
  executor.set_timing([](const CallbackId& id) {
    return id.topic_or_service == "/asked/get_parameters" ? Timing{.priority = 30} : Timing{};
  });
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return count(executor, "asked.service:") == 1; }));
  EXPECT_TRUE(eventually([&] { return count(executor, "asked.housekeeping") == 1; }));
  const auto outside = std::make_shared<rclcpp::Node>("outside");
  const auto client = std::make_shared<rclcpp::SyncParametersClient>(outside, "asked");
  ASSERT_TRUE(client->wait_for_service(150s));
  EXPECT_FALSE(client->get_parameters({"use_sim_time"}, 150s).empty());  // by the one
  EXPECT_FALSE(client->list_parameters({}, 1, 150s).names.empty());      // by the other
}

TEST_F(OfEveryNode, eventsOfWhatComesWhileItSpinsAreReportedAsLongAsItIsThere) {
  const auto node = std::make_shared<rclcpp::Node>("events");
  const auto other = std::make_shared<rclcpp::Node>("other");
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return count(executor, "events.housekeeping") == 1; }));
  for (int round = 0; round < 20; ++round) {
    const auto matched = std::make_shared<std::atomic<int>>(0);
    rclcpp::PublisherOptions options;
    options.event_callbacks.matched_callback = [matched](rclcpp::MatchedInfo& /*info*/) {
      ++*matched;
    };
    const std::string topic = unique("round" + std::to_string(round));
    const auto out = node->create_publisher<Int32>(topic, 1, options);
    const auto in = other->create_subscription<Int32>(topic, 1, [](const Int32&) {});
    EXPECT_TRUE(eventually([&] { return *matched > 0; })) << "round " << round;
  }
}

// One that is moved takes all of it along.
TEST_F(OfEveryNode, itIsServedByTheExecutorThatHasTheNode) {
  const auto node = std::make_shared<rclcpp::Node>("moves");
  SchedulingExecutor first{quiet()};
  SchedulingExecutor second{quiet()};
  Spinning spins_first{first};
  Spinning spins_second{second};
  const auto outside = std::make_shared<rclcpp::Node>("outside");
  const auto client = std::make_shared<rclcpp::SyncParametersClient>(outside, "moves");
  ASSERT_TRUE(client->wait_for_service(150s));
  SchedulingExecutor* host = &first;
  for (int move = 0; move < 20; ++move) {
    host->add_node(node);
    EXPECT_FALSE(client->get_parameters({"use_sim_time"}, 150s).empty()) << "move " << move;
    host->remove_node(node);
    if (move % 3 != 0) {  // else it comes back at once
      host = host == &first ? &second : &first;
    }
  }
  EXPECT_TRUE(eventually([&] { return first.callbacks().empty() && second.callbacks().empty(); }));
}

}  // namespace
}  // namespace takt::test
