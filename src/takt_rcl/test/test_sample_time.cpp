// SPDX-License-Identifier: Apache-2.0
//
// When the data of a message was sampled, by the stamps of its middleware: as good as those are,
// but never later than now and never before the clock began. The middleware's stamps are replaced
// by standing between takt_rcl and rcl_take().
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <rcl/subscription.h>

#include <chrono>
#include <optional>
#include <takt/rcl/sample_time.hpp>
#include <takt_interfaces/msg/sample.hpp>

#include "support.hpp"

namespace {

std::optional<rmw_message_info_t> replaced;

}  // namespace

extern "C" rcl_ret_t rcl_take(const rcl_subscription_t* subscription, void* message,
                              rmw_message_info_t* info, rmw_subscription_allocation_t* allocation) {
  static const auto original = reinterpret_cast<decltype(&rcl_take)>(dlsym(RTLD_NEXT, "rcl_take"));
  const rcl_ret_t code = original(subscription, message, info, allocation);
  if (replaced) {
    info->source_timestamp = replaced->source_timestamp;
    info->received_timestamp = replaced->received_timestamp;
  }
  return code;
}

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;
using std::chrono::nanoseconds;

nanoseconds real_time() {
  return std::chrono::system_clock::now().time_since_epoch();
}

class SampleTime : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(link_.connect()); }
  void TearDown() override { replaced.reset(); }

  // What a reader is told of a message with these stamps of CLOCK_REALTIME.
  os::TimePoint sampled(nanoseconds source, nanoseconds received) {
    replaced = rmw_get_zero_initialized_message_info();
    replaced->source_timestamp = source.count();
    replaced->received_timestamp = received.count();
    EXPECT_TRUE(link_.out->publish(Sample{}));
    EXPECT_TRUE(link_.out->wait_for_all_acked(patience));
    const executor::Delivered delivered = link_.in->deliver_pending();
    EXPECT_EQ(delivered.count, 1U);
    EXPECT_TRUE(delivered.sampled.has_value());
    return delivered.sampled.value_or(os::TimePoint{});
  }

  Link<Sample> link_{"stamps"};
};

TEST_F(SampleTime, is_that_of_the_publication_by_the_other_clock) {
  const os::TimePoint before = os::now();
  const nanoseconds published = real_time();
  const os::TimePoint after = os::now();
  const os::TimePoint found = sampled(published - 5s, published - 4s);
  // Both clocks were read in the same interval; 1 ms for what an adjustment may shift them.
  EXPECT_GE(found, before - 5s - 1ms);
  EXPECT_LE(found, after - 5s + 1ms);
}

TEST_F(SampleTime, is_that_of_the_arrival_where_the_middleware_does_not_stamp_publications) {
  const os::TimePoint before = os::now();
  const nanoseconds received = real_time();
  const os::TimePoint after = os::now();
  const os::TimePoint found = sampled(0ns, received - 3s);
  EXPECT_GE(found, before - 3s - 1ms);
  EXPECT_LE(found, after - 3s + 1ms);
}

TEST_F(SampleTime, is_that_of_the_take_where_the_middleware_stamps_nothing) {
  for (const nanoseconds nothing : {0ns, nanoseconds::min()}) {
    const os::TimePoint before = os::now();
    const os::TimePoint found = sampled(nothing, nothing);
    EXPECT_GE(found, before);
    EXPECT_LE(found, os::now());
  }
}

TEST_F(SampleTime, is_not_in_the_future_where_the_publishers_clock_is_ahead) {
  const os::TimePoint before = os::now();
  const os::TimePoint found = sampled(real_time() + 1h, real_time() + 1h);
  EXPECT_GE(found, before);
  EXPECT_LE(found, os::now());
}

TEST_F(SampleTime, is_not_before_the_clock_began_where_the_publishers_clock_was_never_set) {
  EXPECT_EQ(sampled(1s, 1s), os::TimePoint{});
}

}  // namespace
}  // namespace takt::test
