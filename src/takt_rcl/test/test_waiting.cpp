// SPDX-License-Identifier: Apache-2.0
//
// Messages that wait at a subscription when somebody begins to listen: each is announced to one
// listener once, and none is forgotten between two of them.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <takt_interfaces/msg/sample.hpp>
#include <vector>

#include "executor_support.hpp"

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;
using Numbers = std::vector<std::uint64_t>;

// One topic whose subscription keeps what it was called with.
class WaitingMessages : public testing::TestWithParam<bool> {
 protected:
  void connect(const QoS& qos = QoS{20}) {
    const std::string topic = unique_topic("waiting");
    out_ = node_.create_publisher<Sample>(topic, qos);
    in_ = node_.create_subscription<Sample>(topic, qos, [this](const Sample& message) {
      const std::lock_guard lock{mutex_};
      got_.push_back(message.sequence);
    });
    ASSERT_TRUE(eventually([&] { return out_->get_subscription_count() == 1; }));
  }

  void publish(std::uint64_t first, std::uint64_t last) {
    Sample sample;
    for (sample.sequence = first; sample.sequence <= last; ++sample.sequence) {
      ASSERT_TRUE(out_->publish(sample));
    }
    ASSERT_TRUE(out_->wait_for_all_acked(patience));
  }

  bool got(const Numbers& expected) {
    const bool enough = eventually([&] {
      const std::lock_guard lock{mutex_};
      return got_.size() >= expected.size();
    });
    const std::lock_guard lock{mutex_};
    EXPECT_EQ(got_, expected);
    return enough;
  }

  Context context_{ContextOptions{.use_intra_process = GetParam()}};
  Node node_{context_, "waiting"};
  std::shared_ptr<Publisher<Sample>> out_;
  std::shared_ptr<Subscription<Sample>> in_;
  std::mutex mutex_;
  Numbers got_;
};

TEST_P(WaitingMessages, release_the_task_each_once_and_leave_none_behind) {
  connect();
  publish(0, 4);
  SchedulingExecutor executor{quiet()};
  executor.add(in_, {.name = "in", .priority = 10});
  executor.start();
  EXPECT_TRUE(got({0, 1, 2, 3, 4}));
  publish(100, 103);
  EXPECT_TRUE(got({0, 1, 2, 3, 4, 100, 101, 102, 103}));
  executor.stop();
  EXPECT_EQ(executor.statistics("in").completed, 9U);
}

TEST_P(WaitingMessages, release_a_task_that_is_added_while_the_executor_spins) {
  connect();
  publish(0, 4);
  SchedulingExecutor executor{quiet()};
  executor.add(node_.create_timer(10ms, [] {}), {.priority = 5});
  executor.start();
  executor.add(in_, {.name = "in", .priority = 10});
  EXPECT_TRUE(got({0, 1, 2, 3, 4}));
  executor.stop();
}

TEST_P(WaitingMessages, a_latched_one_arrives) {
  connect(QoS{1}.transient_local());
  publish(7, 7);
  SchedulingExecutor executor{quiet()};
  executor.add(in_, {.name = "in", .priority = 10});
  executor.start();
  EXPECT_TRUE(got({7}));
  executor.stop();
}

TEST_P(WaitingMessages, go_on_to_the_next_executor) {
  connect();
  {
    SchedulingExecutor never_started{quiet()};
    never_started.add(in_, {.name = "in", .priority = 10});
    publish(0, 2);
  }
  publish(3, 4);
  SchedulingExecutor executor{quiet()};
  executor.add(in_, {.name = "in", .priority = 10});
  executor.start();
  EXPECT_TRUE(got({0, 1, 2, 3, 4}));
  executor.stop();
}

TEST_P(WaitingMessages, release_a_task_whose_subscription_was_only_read_before) {
  connect();
  SchedulingExecutor executor{quiet()};
  executor.add(node_.create_timer(1h, [] {}), {.priority = 5, .reads = {in_}, .offset = 30min});
  executor.start();
  publish(0, 2);
  executor.add(in_, {.name = "in", .priority = 10});
  EXPECT_TRUE(got({0, 1, 2}));
  executor.remove("in").wait();
  publish(3, 3);
  executor.add(in_, {.name = "in", .priority = 10});
  EXPECT_TRUE(got({0, 1, 2, 3}));
  executor.stop();
}

TEST_P(WaitingMessages, are_reported_to_the_next_listener_until_they_are_taken) {
  connect();
  std::atomic<std::size_t> first{0};
  in_->set_on_new_message_callback([&](std::size_t count) noexcept { first += count; });
  publish(0, 4);
  EXPECT_TRUE(eventually([&] { return first == 5; }));
  Sample sample;
  MessageInfo info;
  ASSERT_TRUE(in_->take(sample, info));
  ASSERT_TRUE(in_->take(sample, info));
  in_->clear_on_new_message_callback();
  publish(5, 5);
  std::atomic<std::size_t> second{0};
  in_->set_on_new_message_callback([&](std::size_t count) noexcept { second += count; });
  EXPECT_EQ(second, 4U);  // at once
  EXPECT_EQ(first, 5U);
}

TEST_P(WaitingMessages, that_made_room_for_newer_ones_are_reported_no_more) {
  connect(QoS{2});
  in_->set_on_new_message_callback([](std::size_t) noexcept {});
  publish(0, 9);
  std::atomic<std::size_t> reported{0};
  in_->set_on_new_message_callback([&](std::size_t count) noexcept { reported += count; });
  EXPECT_EQ(reported, 2U);
}

// From inside, and it comes to its end.
TEST_P(WaitingMessages, a_callback_may_set_another_callback_and_clear_it) {
  connect();
  const auto first = std::make_shared<std::atomic<std::size_t>>(0);
  const auto second = std::make_shared<std::atomic<std::size_t>>(0);
  in_->set_on_new_message_callback([in = in_.get(), first, second](std::size_t count) noexcept {
    const std::shared_ptr<std::atomic<std::size_t>> mine = first;
    in->set_on_new_message_callback([in, second](std::size_t left) noexcept {
      const std::shared_ptr<std::atomic<std::size_t>> its = second;
      in->clear_on_new_message_callback();
      *its += left;
    });
    *mine += count;
  });
  ASSERT_TRUE(returns([in = in_, out = out_] { static_cast<void>(out->publish(Sample{})); }));
  EXPECT_TRUE(eventually([&] { return *first == 1 && *second == 1; })) << *first << " " << *second;
  publish(1, 1);
  Sample sample;
  MessageInfo info;
  EXPECT_TRUE(eventually([&] { return bool{in_->take(sample, info)}; }));
  EXPECT_EQ(*first, 1U);
  EXPECT_EQ(*second, 1U);
}

INSTANTIATE_TEST_SUITE_P(Transport, WaitingMessages, testing::Bool(), [](const auto& transport) {
  return transport.param ? "by_pointer" : "through_the_middleware";
});

}  // namespace
}  // namespace takt::test
