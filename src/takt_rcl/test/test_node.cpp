// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rcl/error_handling.h>

#include <memory>
#include <string>
#include <takt/rcl/node.hpp>
#include <takt_interfaces/msg/sample.hpp>

#include "support.hpp"

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Node, reports_its_names) {
  const Node node{Context{}, "radar", "/robot"};
  EXPECT_EQ(node.get_name(), "radar");
  EXPECT_EQ(node.get_namespace(), "/robot");
  EXPECT_EQ(node.get_fully_qualified_name(), "/robot/radar");
  EXPECT_TRUE(node.get_context().is_valid());
}

TEST(Node, expands_relative_absolute_and_private_topics) {
  const Node node{Context{}, "radar", "/robot"};
  EXPECT_EQ(node.create_publisher<Sample>("scan", QoS{1})->get_topic_name(), "/robot/scan");
  EXPECT_EQ(node.create_publisher<Sample>("/scan", QoS{1})->get_topic_name(), "/scan");
  EXPECT_EQ(node.create_subscription<Sample>("~/scan", QoS{1})->get_topic_name(),
            "/robot/radar/scan");
}

TEST(Node, refuses_a_bad_name_and_says_which_and_why) {
  const auto error = error_of([] { Node{Context{}, "bad name"}; });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), RCL_RET_NODE_INVALID_NAME);
  EXPECT_EQ(error->operation(), "cannot create a node");
  EXPECT_EQ(error->where(), "name 'bad name', namespace ''");
  EXPECT_TRUE(contains(error->reason(), "alphanumerics")) << error->reason();
  EXPECT_TRUE(contains(error->what(), "[RCL_RET_NODE_INVALID_NAME 201]")) << error->what();
}

TEST(Node, refuses_a_bad_namespace) {
  const auto error = error_of([] { Node{Context{}, "radar", "/bad namespace"}; });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), RCL_RET_NODE_INVALID_NAMESPACE);
  EXPECT_TRUE(contains(error->where(), "/bad namespace"));
}

TEST(Node, refuses_a_bad_topic_and_says_which_and_why) {
  const Node node{Context{}, "radar"};
  for (const auto& error :
       {error_of([&] { static_cast<void>(node.create_publisher<Sample>("no topic", QoS{1})); }),
        error_of(
            [&] { static_cast<void>(node.create_subscription<Sample>("no topic", QoS{1})); })}) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), RCL_RET_TOPIC_NAME_INVALID);
    EXPECT_EQ(error->where(), "topic 'no topic', node '/radar'");
    EXPECT_TRUE(contains(error->reason(), "alphanumerics")) << error->reason();
  }
}

TEST(Node, leaves_no_error_of_rcl_behind) {
  EXPECT_TRUE(error_of([] { Node{Context{}, "bad name"}; }));
  EXPECT_FALSE(rcl_error_is_set());
}

TEST(Node, cannot_be_created_after_shutdown) {
  Context context;
  context.shutdown();
  const auto error = error_of([&] { Node{context, "late"}; });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), RCL_RET_NOT_INIT);
  EXPECT_TRUE(contains(error->reason(), "context")) << error->reason();
}

TEST(Node, creates_nothing_after_shutdown) {
  Context context;
  const Node node{context, "radar"};
  context.shutdown();
  const auto publisher =
      error_of([&] { static_cast<void>(node.create_publisher<Sample>("scan", QoS{1})); });
  const auto subscription =
      error_of([&] { static_cast<void>(node.create_subscription<Sample>("scan", QoS{1})); });
  ASSERT_TRUE(publisher);
  ASSERT_TRUE(subscription);
  EXPECT_EQ(publisher->code(), RCL_RET_NODE_INVALID);
  EXPECT_EQ(subscription->code(), RCL_RET_NODE_INVALID);
}

TEST(Node, entities_outlive_their_node_and_context) {
  std::shared_ptr<Publisher<Sample>> out;
  std::shared_ptr<Subscription<Sample>> in;
  {
    const Context context;
    const Node node{context, "short_lived"};
    out = node.create_publisher<Sample>(unique_topic("outlive"), QoS{1});
    in = node.create_subscription<Sample>(unique_topic("outlive"), QoS{1});
  }
  ASSERT_TRUE(eventually([&] { return out->get_subscription_count() == 1; }));
  Sample sample;
  sample.sequence = 5;
  ASSERT_TRUE(out->publish(sample));
  Sample got;
  MessageInfo info;
  ASSERT_TRUE(eventually([&] { return static_cast<bool>(in->take(got, info)); }));
  EXPECT_EQ(got.sequence, 5U);
}

TEST(Node, may_be_destroyed_after_shutdown_in_any_order) {
  Context context;
  auto node = std::make_unique<Node>(context, "radar");
  auto out = node->create_publisher<Sample>(unique_topic("order"), QoS{1});
  const auto in = node->create_subscription<Sample>(unique_topic("order"), QoS{1});
  context.shutdown();
  node.reset();
  out.reset();
  EXPECT_EQ(in.use_count(), 1);  // and goes last, with the node and the context that it holds
}

}  // namespace
}  // namespace takt::test
