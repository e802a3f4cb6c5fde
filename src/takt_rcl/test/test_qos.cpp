// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <stdexcept>
#include <takt/rcl/qos.hpp>
#include <takt_interfaces/msg/sample.hpp>

#include "support.hpp"

namespace takt::test {
namespace {

TEST(QoS, starts_reliable_volatile_and_keeps_the_last) {
  const QoS qos{7};
  EXPECT_EQ(qos.depth(), 7U);
  EXPECT_EQ(qos.reliability(), RMW_QOS_POLICY_RELIABILITY_RELIABLE);
  EXPECT_EQ(qos.durability(), RMW_QOS_POLICY_DURABILITY_VOLATILE);
  EXPECT_EQ(qos.get_rmw_qos_profile().history, RMW_QOS_POLICY_HISTORY_KEEP_LAST);
}

TEST(QoS, settings_chain_and_can_be_taken_back) {
  const QoS qos = QoS{1}.best_effort().transient_local().keep_last(3);
  EXPECT_EQ(qos.depth(), 3U);
  EXPECT_EQ(qos.reliability(), RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT);
  EXPECT_EQ(qos.durability(), RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL);
  const QoS back = QoS{qos}.reliable().durability_volatile();
  EXPECT_EQ(back.reliability(), RMW_QOS_POLICY_RELIABILITY_RELIABLE);
  EXPECT_EQ(back.durability(), RMW_QOS_POLICY_DURABILITY_VOLATILE);
}

TEST(QoS, refuses_a_depth_of_zero) {
  EXPECT_THROW(QoS{0}, std::invalid_argument);
  EXPECT_THROW(QoS{1}.keep_last(0), std::invalid_argument);
}

TEST(QoS, arrives_at_the_middleware) {
  const QoS asked = QoS{3}.best_effort().transient_local();
  const Link<takt_interfaces::msg::Sample> link{"qos", asked};
  for (const QoS& got : {link.out->get_actual_qos(), link.in->get_actual_qos()}) {
    EXPECT_EQ(got.depth(), 3U);
    EXPECT_EQ(got.reliability(), RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT);
    EXPECT_EQ(got.durability(), RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL);
  }
}

TEST(QoS, transient_local_gives_a_late_subscription_what_was_published_before) {
  using Sample = takt_interfaces::msg::Sample;
  const Context context;
  const Node node{context, "late"};
  const QoS qos = QoS{5}.transient_local();
  const auto out = node.create_publisher<Sample>(unique_topic("late"), qos);
  Sample sample;
  sample.sequence = 42;
  ASSERT_TRUE(out->publish(sample));
  const auto in = node.create_subscription<Sample>(unique_topic("late"), qos);
  Sample got;
  MessageInfo info;
  ASSERT_TRUE(eventually([&] { return static_cast<bool>(in->take(got, info)); }));
  EXPECT_EQ(got.sequence, 42U);
}

}  // namespace
}  // namespace takt::test
