// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rcl/error_handling.h>

#include <chrono>
#include <memory>
#include <std_msgs/msg/string.hpp>
#include <string>
#include <takt_interfaces/msg/sample.hpp>
#include <utility>

#include "support.hpp"

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;
using Text = std_msgs::msg::String;

TEST(PubSub, carries_every_field) {
  const Link<Sample> link{"fields"};
  ASSERT_TRUE(link.connect());
  Sample sent;
  sent.sequence = 1ULL << 63U;
  sent.intended_ns = -1;
  sent.sent_ns = 123456789012345;
  sent.last = true;
  sent.payload = {1, 2, 255};
  ASSERT_TRUE(link.out->publish(sent));
  Sample got;
  MessageInfo info;
  ASSERT_TRUE(link.receive(got, info));
  EXPECT_EQ(got, sent);
}

TEST(PubSub, publishes_a_unique_ptr_and_consumes_it) {
  const Link<Text> link{"unique"};
  ASSERT_TRUE(link.connect());
  auto text = std::make_unique<Text>();
  text->data = "hello";
  ASSERT_TRUE(link.out->publish(std::move(text)));
  Text got;
  MessageInfo info;
  ASSERT_TRUE(link.receive(got, info));
  EXPECT_EQ(got.data, "hello");
}

TEST(PubSub, delivers_in_order_with_a_number_that_has_no_gaps) {
  const Link<Sample> link{"order"};
  ASSERT_TRUE(link.connect());
  Sample sample;
  for (sample.sequence = 0; sample.sequence < 100; ++sample.sequence) {
    ASSERT_TRUE(link.out->publish(sample));
  }
  MessageInfo first;
  for (std::uint64_t expected = 0; expected < 100; ++expected) {
    MessageInfo info;
    ASSERT_TRUE(link.receive(sample, info));
    if (expected == 0) first = info;
    EXPECT_EQ(sample.sequence, expected);
    EXPECT_EQ(info.publication_sequence_number - first.publication_sequence_number, expected);
  }
}

TEST(PubSub, stamps_lie_between_before_publishing_and_after_taking) {
  const Link<Sample> link{"stamps"};
  ASSERT_TRUE(link.connect());
  const auto before = std::chrono::system_clock::now();
  ASSERT_TRUE(link.out->publish(Sample{}));
  Sample got;
  MessageInfo info;
  ASSERT_TRUE(link.receive(got, info));
  const auto after = std::chrono::system_clock::now();
  EXPECT_LE(before, info.source_timestamp);
  EXPECT_LE(info.source_timestamp, info.received_timestamp);
  EXPECT_LE(info.received_timestamp, after);
  EXPECT_FALSE(info.from_intra_process);
}

TEST(PubSub, a_take_without_messages_finds_nothing_and_changes_nothing) {
  const Link<Sample> link{"nothing"};
  Sample got;
  got.sequence = 9;
  MessageInfo info;
  const Status status = link.in->take(got, info);
  EXPECT_FALSE(status);
  EXPECT_TRUE(status.nothing_taken());
  EXPECT_FALSE(status.failed());
  EXPECT_STREQ(status.name(), "RCL_RET_SUBSCRIPTION_TAKE_FAILED");
  EXPECT_EQ(got.sequence, 9U);
  EXPECT_EQ(info.publication_sequence_number, MessageInfo::sequence_unsupported);
}

TEST(PubSub, keep_last_keeps_the_last) {
  const Link<Sample> link{"keep_last", QoS{2}};
  ASSERT_TRUE(link.connect());
  Sample sample;
  for (sample.sequence = 0; sample.sequence < 5; ++sample.sequence) {
    ASSERT_TRUE(link.out->publish(sample));
  }
  ASSERT_TRUE(link.out->wait_for_all_acked(patience));
  MessageInfo info;
  ASSERT_TRUE(link.receive(sample, info));
  EXPECT_EQ(sample.sequence, 3U);
  ASSERT_TRUE(link.in->take(sample, info));
  EXPECT_EQ(sample.sequence, 4U);
  EXPECT_TRUE(link.in->take(sample, info).nothing_taken());
}

TEST(PubSub, counts_the_other_side_while_it_exists) {
  Link<Sample> link{"counts"};
  ASSERT_TRUE(link.connect());
  auto second = link.to.create_subscription<Sample>(unique_topic("counts"), QoS{1});
  EXPECT_TRUE(eventually([&] { return link.out->get_subscription_count() == 2; }));
  second.reset();
  EXPECT_TRUE(eventually([&] { return link.out->get_subscription_count() == 1; }));
  link.out.reset();
  EXPECT_TRUE(eventually([&] { return link.in->get_publisher_count() == 0; }));
}

TEST(PubSub, does_not_connect_a_best_effort_publisher_to_a_reliable_subscription) {
  const Context context;
  const Node node{context, "mismatch"};
  const auto out = node.create_publisher<Sample>(unique_topic("mismatch"), QoS{1}.best_effort());
  const auto reliable = node.create_subscription<Sample>(unique_topic("mismatch"), QoS{1});
  const auto any = node.create_subscription<Sample>(unique_topic("mismatch"), QoS{1}.best_effort());
  ASSERT_TRUE(eventually([&] { return any->get_publisher_count() == 1; }));
  EXPECT_EQ(reliable->get_publisher_count(), 0U);
}

TEST(PubSub, publishing_after_shutdown_fails_and_says_why) {
  Link<Sample> link{"after_shutdown"};
  link.context.shutdown();
  for (const Status status :
       {link.out->publish(Sample{}), link.out->publish(std::make_unique<Sample>())}) {
    EXPECT_TRUE(status.failed());
    EXPECT_EQ(status.code(), RCL_RET_PUBLISHER_INVALID);
    EXPECT_STREQ(status.name(), "RCL_RET_PUBLISHER_INVALID");
  }
  EXPECT_NE(std::string{last_error()}.find("context is invalid"), std::string::npos)
      << last_error();
  EXPECT_FALSE(rcl_error_is_set());
}

TEST(PubSub, taking_after_shutdown_is_safe) {
  Link<Sample> link{"take_after_shutdown"};
  link.context.shutdown();
  Sample got;
  MessageInfo info;
  EXPECT_FALSE(link.in->take(got, info));
}

TEST(PubSub, publishing_a_null_pointer_fails) {
  const Link<Sample> link{"null"};
  const Status status = link.out->publish(std::unique_ptr<Sample>{});
  EXPECT_EQ(status.code(), RCL_RET_INVALID_ARGUMENT);
  EXPECT_NE(std::string{last_error()}, "");
}

TEST(PubSub, carries_16_MB) {
  const Link<Sample> link{"large", QoS{1}};
  ASSERT_TRUE(link.connect());
  Sample sent;
  sent.payload.assign(16U << 20U, 0xA5);
  ASSERT_TRUE(link.out->publish(sent));
  Sample got;
  MessageInfo info;
  ASSERT_TRUE(link.receive(got, info));
  EXPECT_EQ(got.payload, sent.payload);
}

}  // namespace
}  // namespace takt::test
