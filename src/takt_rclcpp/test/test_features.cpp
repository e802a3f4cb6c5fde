// SPDX-License-Identifier: Apache-2.0
//
// What nodes have besides timers and messages, unmodified: parameters and events of QoS.
#include <std_msgs/msg/int32.hpp>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

using std_msgs::msg::Int32;

class Features : public WithContext {};

TEST_F(Features, parametersAreSetFromOutsideWhileItSpins) {
  const auto node = std::make_shared<rclcpp::Node>("gripper");
  node->declare_parameter("force", 1);
  std::atomic<int> asked{0};
  std::atomic<int> reported{0};
  const auto on_set =
      node->add_on_set_parameters_callback([&](const std::vector<rclcpp::Parameter>& parameters) {
        ++asked;
        rcl_interfaces::msg::SetParametersResult result;
        result.successful = parameters.front().as_int() <= 100;
        result.reason = result.successful ? "" : "too strong";
        return result;
      });
  rclcpp::ParameterEventHandler events{node};
  const auto heard =
      events.add_parameter_callback("force", [&](const rclcpp::Parameter&) { ++reported; });
  const auto busy = node->create_wall_timer(1ms, [] { burn(100us); });
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};

  const auto outside = std::make_shared<rclcpp::Node>("operator");
  const auto client = std::make_shared<rclcpp::SyncParametersClient>(outside, "gripper");
  ASSERT_TRUE(client->wait_for_service(150s));
  for (int force = 2; force <= 10; ++force) {
    const auto results = client->set_parameters({{"force", force}}, 150s);
    ASSERT_EQ(results.size(), 1U);
    EXPECT_TRUE(results.front().successful) << results.front().reason;
    EXPECT_EQ(client->get_parameters({"force"}, 150s).front().as_int(), force);
  }
  const auto refused = client->set_parameters({{"force", 1000}}, 150s);
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_FALSE(refused.front().successful);
  EXPECT_EQ(refused.front().reason, "too strong");
  EXPECT_TRUE(eventually([&] { return reported == 9; })) << reported;
  spinning.end();
  EXPECT_EQ(asked, 10);
  EXPECT_EQ(node->get_parameter("force").as_int(), 10);
}

TEST_F(Features, qosDeadlinesThatAreMissedAreReported) {
  const auto node = std::make_shared<rclcpp::Node>("deadline");
  const auto qos = rclcpp::QoS(1).deadline(20ms);
  std::atomic<int> offered{0};
  std::atomic<int> requested{0};
  std::atomic<int> matched{0};
  rclcpp::PublisherOptions of_publisher;
  of_publisher.event_callbacks.deadline_callback = [&](rclcpp::QOSDeadlineOfferedInfo& info) {
    offered = info.total_count;
  };
  rclcpp::SubscriptionOptions of_subscription;
  of_subscription.event_callbacks.deadline_callback = [&](rclcpp::QOSDeadlineRequestedInfo& info) {
    requested = info.total_count;
  };
  of_subscription.event_callbacks.matched_callback = [&](rclcpp::MatchedInfo& info) {
    matched = static_cast<int>(info.current_count);
  };
  const auto out = node->create_publisher<Int32>(unique("late"), qos, of_publisher);
  std::atomic<int> heard{0};
  const auto in = node->create_subscription<Int32>(
      unique("late"), qos, [&](const Int32&) { ++heard; }, of_subscription);
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  ASSERT_TRUE(eventually([&] { return matched == 1; }));
  out->publish(Int32{});  // and no more
  EXPECT_TRUE(eventually([&] { return heard == 1 && offered > 2 && requested > 2; }))
      << heard << ' ' << offered << ' ' << requested;
}

TEST_F(Features, qosThatDoNotGoTogetherAreReported) {
  const auto node = std::make_shared<rclcpp::Node>("incompatible");
  std::atomic<int> reported{0};
  rclcpp::SubscriptionOptions options;
  options.event_callbacks.incompatible_qos_callback =
      [&](rclcpp::QOSRequestedIncompatibleQoSInfo&) { ++reported; };
  const auto in = node->create_subscription<Int32>(
      unique("strict"), rclcpp::QoS(1).reliable(), [](const Int32&) {}, options);
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  const auto out = node->create_publisher<Int32>(unique("strict"), rclcpp::QoS(1).best_effort());
  EXPECT_TRUE(eventually([&] { return reported == 1; }));
}

}  // namespace
}  // namespace takt::test
