// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rcutils/logging.h>

#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
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

// While it lives, keeps what is written to the ROS log.
class Log {
 public:
  Log() {
    text_.clear();
    rcutils_logging_set_output_handler(keep);
  }
  ~Log() { rcutils_logging_set_output_handler(before_); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  [[nodiscard]] bool has(const std::string& text) const {
    const std::lock_guard lock{mutex_};
    return text_.find(text) != std::string::npos;
  }

 private:
  static void keep(const rcutils_log_location_t*, int, const char*, rcutils_time_point_value_t,
                   const char* format, va_list* arguments) {
    char line[1024];
    std::vsnprintf(line, sizeof line, format, *arguments);
    const std::lock_guard lock{mutex_};
    text_.append(line).append("\n");
  }

  rcutils_logging_output_handler_t before_{rcutils_logging_get_output_handler()};
  static inline std::mutex mutex_;
  static inline std::string text_;
};

TEST(QoS, two_ends_that_do_not_go_together_are_reported_on_both_sides) {
  using Sample = takt_interfaces::msg::Sample;
  const Context context;
  const Node node{context, "guard"};
  const struct {
    const char* topic;
    QoS gives;
    QoS asks;
    const char* given;
    const char* asked;
  } cases[]{
      {"lossy", QoS{1}.best_effort(), QoS{1}, "(best effort, volatile)", "(reliable, volatile)"},
      {"forgetful", QoS{1}, QoS{1}.transient_local(), "(reliable, volatile)",
       "(reliable, transient local)"}};
  for (const auto& one : cases) {
    const std::string topic = unique_topic(one.topic);
    const std::string where = "topic '" + topic + "', node '/guard': ";
    const Log log;
    const auto out = node.create_publisher<Sample>(topic, one.gives);
    const auto in = node.create_subscription<Sample>(topic, one.asks);
    EXPECT_TRUE(eventually([&] {
      return log.has(where + "a subscription asks for more than this publisher gives " +
                     one.given) &&
             log.has(where + "a publisher gives less than this subscription asks for " + one.asked);
    }));
  }
}

}  // namespace
}  // namespace takt::test
