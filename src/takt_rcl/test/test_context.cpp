// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <takt/rcl/context.hpp>
#include <takt_interfaces/msg/sample.hpp>
#include <thread>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;

TEST(Context, takes_the_domain_of_the_environment_unless_one_is_given) {
  EXPECT_EQ(Context{}.get_domain_id(), std::stoul(std::getenv("ROS_DOMAIN_ID")));
  EXPECT_EQ(Context{ContextOptions{.domain_id = 78}}.get_domain_id(), 78U);
}

TEST(Context, applies_ros_arguments_and_hands_back_the_others) {
  const std::array argv{"program", "100", "--ros-args", "-r", "__ns:=/robot", "-r", "scan:=lidar"};
  const Context context{static_cast<int>(argv.size()), argv.data()};
  EXPECT_EQ(context.get_non_ros_arguments(), (std::vector<std::string>{"program", "100"}));
  const Node node{context, "radar"};
  EXPECT_EQ(node.get_fully_qualified_name(), "/robot/radar");
  EXPECT_EQ(node.create_publisher<Sample>("scan", QoS{1})->get_topic_name(), "/robot/lidar");
}

TEST(Context, without_arguments_hands_none_back) {
  EXPECT_TRUE(Context{}.get_non_ros_arguments().empty());
}

TEST(Context, names_the_ros_argument_that_is_wrong) {
  const std::array argv{"program", "--ros-args", "-r", "no-rule"};
  const auto error =
      error_of([&] { const Context context{static_cast<int>(argv.size()), argv.data()}; });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), RCL_RET_INVALID_ROS_ARGS);
  EXPECT_EQ(error->operation(), "cannot create a context");
  EXPECT_NE(error->where().find("no-rule"), std::string::npos) << error->what();
  EXPECT_NE(error->reason().find("no-rule"), std::string::npos) << error->what();
}

TEST(Context, after_a_failed_one_the_next_works) {
  const std::array argv{"program", "--ros-args", "-r", "no-rule"};
  EXPECT_TRUE(error_of([&] { const Context context{static_cast<int>(argv.size()), argv.data()}; }));
  EXPECT_NO_THROW((Node{Context{}, "fine"}));
}

TEST(Context, refuses_a_domain_that_the_middleware_cannot_have) {
  const auto error = error_of([] { Context{ContextOptions{.domain_id = 233}}; });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->where(), "domain 233");
  EXPECT_NE(error->reason().find("0 to 232"), std::string::npos) << error->what();
}

TEST(Context, shutdown_may_come_twice_and_from_several_threads) {
  Context context;
  EXPECT_TRUE(context.is_valid());
  std::thread other{[&] { context.shutdown(); }};
  context.shutdown();
  other.join();
  EXPECT_FALSE(context.is_valid());
  context.shutdown();
  EXPECT_FALSE(context.is_valid());
}

TEST(Context, copies_share_one_context) {
  Context context;
  const Context copy = context;
  context.shutdown();
  EXPECT_FALSE(copy.is_valid());
}

TEST(Context, a_second_one_is_independent_of_the_first) {
  Context first;
  const Context second;
  const Node node{second, "second"};
  const auto out = node.create_publisher<Sample>(unique_topic("second"), QoS{1});
  first.shutdown();
  EXPECT_TRUE(second.is_valid());
  EXPECT_TRUE(out->publish(Sample{}));
}

}  // namespace
}  // namespace takt::test
