// SPDX-License-Identifier: Apache-2.0
//
// Messages by pointer, and the same messages through the middleware to others, while readers come
// and go. A second context of the process is as remote as another process.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <takt_interfaces/msg/sample.hpp>
#include <thread>
#include <vector>

#include "intra_process_support.hpp"

namespace takt::test {
namespace {

// Whether another context hears, and how often this one does.
TEST(IntraProcess, remote_readers_hear_the_same_messages_and_local_ones_each_only_once) {
  Local local{"remote", QoS{100}};
  const Context elsewhere;
  const Node far{elsewhere, "far"};
  std::vector<std::uint64_t> near_got;
  std::vector<bool> by_pointer;
  const auto in = local.subscribe([&](const Sample& message, const MessageInfo& info) {
    near_got.push_back(message.sequence);
    by_pointer.push_back(info.from_intra_process);
  });
  const auto remote = far.create_subscription<Sample>(local.topic, local.qos);
  const auto out = local.publisher();
  ASSERT_TRUE(eventually([&] { return remote->get_publisher_count() == 1; }));
  ASSERT_TRUE(eventually([&] { return out->get_subscription_count() == 2; }));
  Sample got;
  MessageInfo info;
  std::vector<std::uint64_t> sent;
  std::vector<std::uint64_t> far_got;
  for (std::uint64_t i = 0; i < 20; ++i) {
    sent.push_back(i);
    if (i % 2 == 0) {
      ASSERT_TRUE(out->publish(numbered(i)));
    } else {
      ASSERT_TRUE(out->publish(*numbered(i)));
    }
    ASSERT_TRUE(eventually([&] { return static_cast<bool>(remote->take(got, info)); }));
    EXPECT_FALSE(info.from_intra_process);
    far_got.push_back(got.sequence);
  }
  ASSERT_TRUE(out->wait_for_all_acked(patience));
  in->deliver_pending();
  EXPECT_EQ(far_got, sent);
  EXPECT_EQ(near_got, sent);
  EXPECT_EQ(by_pointer, std::vector<bool>(20, true));
}

TEST(IntraProcess, a_local_reader_hears_remote_publishers_too) {
  Local local{"mixed", QoS{100}};
  const Context elsewhere;
  const Node far{elsewhere, "far"};
  std::multiset<std::uint64_t> got;
  const auto in = local.subscribe([&](const Sample& message) { got.insert(message.sequence); });
  const auto near_out = local.publisher();
  const auto far_out = far.create_publisher<Sample>(local.topic, local.qos);
  ASSERT_TRUE(eventually(
      [&] { return far_out->get_subscription_count() == 1 && in->get_publisher_count() == 2; }));
  for (std::uint64_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(near_out->publish(numbered(i)));
    ASSERT_TRUE(far_out->publish(numbered(100 + i)));
  }
  EXPECT_TRUE(eventually([&] {
    in->deliver_pending();
    return got.size() >= 20;
  }));
  std::multiset<std::uint64_t> expected;
  for (std::uint64_t i = 0; i < 10; ++i) expected.insert({i, 100 + i});
  EXPECT_EQ(got, expected);
}

// The middleware is left out while all who are connected are local: a local reader that comes or
// goes must not be taken for the remote one.
TEST(IntraProcess, a_remote_reader_misses_nothing_while_local_ones_come_and_go) {
  constexpr std::uint64_t messages = 500;
  Local local{"misses_nothing", QoS{messages}};
  const Context elsewhere;
  const Node far{elsewhere, "far"};
  const auto remote = far.create_subscription<Sample>(local.topic, local.qos);
  const auto out = local.publisher();
  ASSERT_TRUE(eventually(
      [&] { return remote->get_publisher_count() == 1 && out->get_subscription_count() == 1; }));
  std::atomic<bool> stop{false};
  std::thread changing{[&] {
    while (!stop) {
      const auto one = local.subscribe();
      const auto other = local.subscribe([](const Sample&) {});
    }
  }};
  for (std::uint64_t i = 0; i < messages; ++i) {
    ASSERT_TRUE(out->publish(numbered(i)));
    os::sleep_until(os::now() + 100us);
  }
  stop = true;
  changing.join();
  Sample got;
  MessageInfo info;
  for (std::uint64_t i = 0; i < messages; ++i) {
    ASSERT_TRUE(eventually([&] { return static_cast<bool>(remote->take(got, info)); })) << i;
    ASSERT_EQ(got.sequence, i);
  }
}

TEST(IntraProcess, nothing_goes_through_the_middleware_while_all_readers_are_local) {
  Local local{"local_only"};
  const auto in = local.subscribe();
  const auto out = local.publisher();
  // A reader that comes later would get what the middleware has kept, had it ever had it.
  ASSERT_TRUE(out->publish(numbered(1)));
  Sample got;
  MessageInfo info;
  ASSERT_TRUE(in->take(got, info));
  EXPECT_TRUE(info.from_intra_process);
  EXPECT_TRUE(in->take(got, info).nothing_taken());
}

TEST(IntraProcess, transient_local_readers_get_theirs_from_the_middleware) {
  Local local{"transient", QoS{10}.transient_local()};
  const auto out = local.publisher();
  ASSERT_TRUE(out->publish(numbered(1)));
  const auto late = local.subscribe();
  EXPECT_FALSE(late->uses_intra_process());
  const auto now = local.node.create_subscription<Sample>(local.topic, QoS{10});
  EXPECT_TRUE(now->uses_intra_process());
  ASSERT_TRUE(eventually([&] { return out->get_subscription_count() == 2; }));
  ASSERT_TRUE(out->publish(numbered(2)));
  Sample got;
  MessageInfo info;
  for (const std::uint64_t expected : {1U, 2U}) {
    ASSERT_TRUE(eventually([&] { return static_cast<bool>(late->take(got, info)); }));
    EXPECT_EQ(got.sequence, expected);
    EXPECT_FALSE(info.from_intra_process);
  }
  ASSERT_TRUE(now->take(got, info));
  EXPECT_EQ(got.sequence, 2U);
  EXPECT_TRUE(info.from_intra_process);
}

TEST(IntraProcess, reliable_readers_do_not_hear_best_effort_publishers) {
  Local local{"reliability"};
  const auto in = local.subscribe();
  const auto tolerant = local.node.create_subscription<Sample>(local.topic, QoS{10}.best_effort());
  const auto out = local.node.create_publisher<Sample>(local.topic, QoS{10}.best_effort());
  ASSERT_TRUE(out->publish(numbered(1)));
  EXPECT_EQ(in->deliver_pending().count, 0U);
  EXPECT_EQ(tolerant->deliver_pending().count, 1U);
}

TEST(IntraProcess, can_be_switched_off_for_a_context_and_for_a_subscription) {
  const Context off{ContextOptions{.use_intra_process = false}};
  const Node node{off, "off"};
  EXPECT_FALSE(node.create_subscription<Sample>(unique_topic("off"), QoS{1})->uses_intra_process());
  Local local{"single_off"};
  const auto in = local.subscribe(SubscriptionOptions{.use_intra_process = false});
  const auto out = local.publisher();
  ASSERT_TRUE(eventually([&] { return out->get_subscription_count() == 1; }));
  ASSERT_TRUE(out->publish(numbered(3)));
  Sample got;
  MessageInfo info;
  ASSERT_TRUE(eventually([&] { return static_cast<bool>(in->take(got, info)); }));
  EXPECT_FALSE(info.from_intra_process);
}

TEST(IntraProcess, publishing_fails_after_shutdown_as_it_does_elsewhere) {
  Local local{"shutdown"};
  const auto in = local.subscribe();
  const auto out = local.publisher();
  local.context.shutdown();
  EXPECT_TRUE(out->publish(numbered(1)).failed());
  EXPECT_TRUE(out->publish(Sample{}).failed());
  EXPECT_EQ(in->deliver_pending().count, 0U);
}

TEST(IntraProcess, readers_may_come_and_go_while_messages_are_published) {
  Local local{"come_and_go"};
  const auto out = local.publisher();
  std::atomic<bool> stop{false};
  std::thread publishing{[&] {
    for (std::uint64_t i = 0; !stop; ++i) static_cast<void>(out->publish(numbered(i)));
  }};
  for (int i = 0; i < 50; ++i) {
    auto calls = std::make_shared<std::atomic<int>>(0);
    const auto in = local.subscribe([calls](std::unique_ptr<Sample>) { ++*calls; });
    in->set_on_new_message_callback([calls](std::size_t) noexcept { ++*calls; });
    in->deliver_pending();
  }
  stop = true;
  publishing.join();
}

TEST(IntraProcess, no_message_is_lost_or_torn_between_many_threads) {
  constexpr std::uint64_t per_thread = 2000;
  constexpr int threads = 3;
  Local local{"threads", QoS{per_thread * threads}};
  const auto out = local.publisher();
  std::vector<std::uint64_t> seen(threads, 0);
  const auto in = local.subscribe([&](const Sample& message) {
    const auto thread = static_cast<std::size_t>(message.sequence % threads);
    EXPECT_EQ(message.sequence / threads, seen[thread]++);
    for (const auto byte : message.payload) EXPECT_EQ(byte, message.payload.front());
  });
  std::vector<std::thread> publishing;
  for (std::uint64_t thread = 0; thread < threads; ++thread) {
    publishing.emplace_back([&, thread] {
      Sample sample;
      for (std::uint64_t i = 0; i < per_thread; ++i) {
        sample.sequence = i * threads + thread;
        sample.payload.assign(64, static_cast<std::uint8_t>(i));
        EXPECT_TRUE(out->publish(sample));
      }
    });
  }
  while (seen[0] + seen[1] + seen[2] < per_thread * threads) in->deliver_pending();
  for (auto& thread : publishing) thread.join();
  EXPECT_EQ(in->dropped(), 0U);
}

}  // namespace
}  // namespace takt::test
