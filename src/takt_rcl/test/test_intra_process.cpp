// SPDX-License-Identifier: Apache-2.0
//
// Messages by pointer within one context, and the same messages through the middleware to others.
// A second context of the process is as remote as another process.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <takt_interfaces/msg/sample.hpp>
#include <takt_interfaces/msg/sample_fixed64_b.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;

std::unique_ptr<Sample> numbered(std::uint64_t number) {
  auto sample = std::make_unique<Sample>();
  sample->sequence = number;
  return sample;
}

struct Local {
  explicit Local(const std::string& name, QoS qos_of_all = QoS{10})
      : topic{unique_topic(name)}, qos{qos_of_all} {}

  template <class... More>
  auto subscribe(More... more) {
    return node.create_subscription<Sample>(topic, qos, std::move(more)...);
  }
  auto publisher() { return node.create_publisher<Sample>(topic, qos); }

  std::string topic;
  QoS qos;
  Context context;
  Node node{context, "local"};
};

TEST(IntraProcess, a_sole_owner_gets_the_message_at_its_address) {
  Local local{"owner"};
  std::unique_ptr<Sample> got;
  const auto in =
      local.subscribe([&](std::unique_ptr<Sample> message) { got = std::move(message); });
  const auto out = local.publisher();
  auto sent = numbered(1);
  const Sample* const address = sent.get();
  ASSERT_TRUE(out->publish(std::move(sent)));
  ASSERT_EQ(in->deliver_pending().count, 1U);
  EXPECT_EQ(got.get(), address);
}

TEST(IntraProcess, a_message_to_use_again_arrives_at_its_address_and_comes_back) {
  Local local{"again", QoS{1}};
  const auto kept = local.subscribe();
  const auto out = local.publisher();
  std::set<const Sample*> addresses;
  for (std::uint64_t number = 0; number < 20; ++number) {
    auto message = out->reuse_message();
    message->sequence = number;
    message->payload.resize(1000);
    const Sample* const address = message.get();
    addresses.insert(address);
    ASSERT_TRUE(out->publish(std::move(message)));
    ASSERT_EQ(kept->deliver_pending().count, 1U);
    EXPECT_EQ(kept->latest().get(), address);
    EXPECT_EQ(kept->latest()->sequence, number);
  }
  EXPECT_LE(addresses.size(), 3U);  // one is read, one waits, one is written
  EXPECT_FALSE(out->publish(std::shared_ptr<Sample>{}));
}

TEST(IntraProcess, an_owner_gets_a_copy_of_a_message_to_use_again) {
  Local local{"copied"};
  std::unique_ptr<Sample> got;
  const auto in =
      local.subscribe([&](std::unique_ptr<Sample> message) { got = std::move(message); });
  const auto out = local.publisher();
  auto message = out->reuse_message();
  message->sequence = 5;
  const Sample* const address = message.get();
  ASSERT_TRUE(out->publish(std::move(message)));
  ASSERT_EQ(in->deliver_pending().count, 1U);
  EXPECT_EQ(got->sequence, 5U);
  EXPECT_NE(got.get(), address);
}

TEST(IntraProcess, every_form_sees_the_message_at_its_address) {
  Local local{"address"};
  const Sample* by_reference = nullptr;
  std::shared_ptr<const Sample> by_shared;
  const auto reference = local.subscribe([&](const Sample& message) { by_reference = &message; });
  const auto shared = local.subscribe(
      [&](std::shared_ptr<const Sample> message) { by_shared = std::move(message); });
  const auto kept = local.subscribe();
  const auto out = local.publisher();
  auto sent = numbered(1);
  const Sample* const address = sent.get();
  ASSERT_TRUE(out->publish(std::move(sent)));
  for (SubscriptionBase* in :
       {static_cast<SubscriptionBase*>(reference.get()),
        static_cast<SubscriptionBase*>(shared.get()), static_cast<SubscriptionBase*>(kept.get())}) {
    EXPECT_EQ(in->deliver_pending().count, 1U);
  }
  EXPECT_EQ(by_reference, address);
  EXPECT_EQ(by_shared.get(), address);
  EXPECT_EQ(kept->latest().get(), address);
}

TEST(IntraProcess, owners_beside_others_get_copies_of_their_own) {
  Local local{"owners"};
  std::vector<std::unique_ptr<Sample>> owned;
  const auto keep = [&](std::unique_ptr<Sample> message) { owned.push_back(std::move(message)); };
  const auto first = local.subscribe(keep);
  const auto second = local.subscribe(keep);
  const auto out = local.publisher();
  ASSERT_TRUE(out->publish(numbered(5)));
  first->deliver_pending();
  second->deliver_pending();
  ASSERT_EQ(owned.size(), 2U);
  EXPECT_NE(owned[0].get(), owned[1].get());
  EXPECT_EQ(owned[0]->sequence, 5U);
  EXPECT_EQ(owned[1]->sequence, 5U);
}

TEST(IntraProcess, a_message_published_by_reference_may_be_changed_afterwards) {
  Local local{"reference"};
  const auto in = local.subscribe();
  const auto out = local.publisher();
  Sample sent;
  sent.sequence = 1;
  sent.payload = {1, 2, 3};
  ASSERT_TRUE(out->publish(sent));
  sent.sequence = 2;
  in->deliver_pending();
  EXPECT_EQ(in->latest()->sequence, 1U);
  EXPECT_EQ(in->latest()->payload, sent.payload);
  EXPECT_NE(in->latest().get(), &sent);
}

TEST(IntraProcess, what_a_reader_keeps_is_never_written_again) {
  Local local{"kept"};
  const auto in = local.subscribe();
  const auto out = local.publisher();
  std::vector<std::shared_ptr<const Sample>> kept;
  for (std::uint64_t i = 0; i < 100; ++i) {
    Sample sent;
    sent.sequence = i;
    ASSERT_TRUE(out->publish(sent));
    in->deliver_pending();
    kept.push_back(in->latest());
  }
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(kept[i]->sequence, i);
}

TEST(IntraProcess, the_depth_bounds_what_waits_and_the_oldest_are_dropped_and_counted) {
  Local local{"depth", QoS{3}};
  std::vector<std::uint64_t> got;
  const auto in = local.subscribe([&](const Sample& message) { got.push_back(message.sequence); });
  const auto out = local.publisher();
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(out->publish(numbered(i)));
  EXPECT_EQ(in->dropped(), 7U);
  in->deliver_pending();
  EXPECT_EQ(got, (std::vector<std::uint64_t>{7, 8, 9}));
}

TEST(IntraProcess, tells_that_and_when_and_counts_each_publishers_messages) {
  Local local{"info"};
  std::vector<MessageInfo> infos;
  const auto in =
      local.subscribe([&](const Sample&, const MessageInfo& info) { infos.push_back(info); });
  const auto out = local.publisher();
  const auto before = std::chrono::system_clock::now();
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_TRUE(out->publish(numbered(i)));
  const auto after = std::chrono::system_clock::now();
  in->deliver_pending();
  ASSERT_EQ(infos.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(infos[i].from_intra_process);
    EXPECT_GE(infos[i].source_timestamp, before);
    EXPECT_LE(infos[i].source_timestamp, after);
    EXPECT_EQ(infos[i].publication_sequence_number,
              infos[0].publication_sequence_number + static_cast<std::uint64_t>(i));
  }
}

TEST(IntraProcess, can_be_taken_by_hand_and_is_announced) {
  Local local{"by_hand"};
  const auto in = local.subscribe();
  const auto out = local.publisher();
  std::size_t announced = 0;
  ASSERT_TRUE(out->publish(numbered(7)));
  in->set_on_new_message_callback([&](std::size_t count) noexcept { announced += count; });
  EXPECT_EQ(announced, 1U);  // what waited
  ASSERT_TRUE(out->publish(numbered(8)));
  EXPECT_EQ(announced, 2U);
  Sample got;
  MessageInfo info;
  ASSERT_TRUE(in->take(got, info));
  EXPECT_EQ(got.sequence, 7U);
  EXPECT_TRUE(info.from_intra_process);
  ASSERT_TRUE(in->take(got, info));
  EXPECT_EQ(got.sequence, 8U);
  EXPECT_TRUE(in->take(got, info).nothing_taken());
}

TEST(IntraProcess, local_readers_get_copies_of_loans) {
  using Small = takt_interfaces::msg::SampleFixed64B;
  const Context context;
  const Node node{context, "loans"};
  const std::string topic = unique_topic("loans");
  const auto out = node.create_publisher<Small>(topic, QoS{1});
  if (!out->can_loan_messages()) GTEST_SKIP() << "this middleware lends no messages";
  const auto in = node.create_subscription<Small>(topic, QoS{1});
  for (std::uint64_t i = 1; i <= 20; ++i) {  // more than the middleware has to lend at once
    auto loan = out->borrow_loaned_message();
    ASSERT_TRUE(loan.is_valid()) << last_error();
    loan.get().sequence = i;
    ASSERT_TRUE(out->publish(std::move(loan)));
    in->deliver_pending();
    EXPECT_EQ(in->latest()->sequence, i);
  }
}

TEST(IntraProcess, newest_alone_can_be_delivered) {
  Local local{"newest"};
  std::vector<std::uint64_t> got;
  const auto in = local.subscribe([&](const Sample& message) { got.push_back(message.sequence); });
  const auto out = local.publisher();
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_TRUE(out->publish(numbered(i)));
  EXPECT_EQ(in->deliver_newest().count, 1U);
  EXPECT_EQ(in->deliver_newest().count, 0U);
  EXPECT_EQ(got, std::vector<std::uint64_t>{3});
}

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
  ASSERT_TRUE(out->wait_for_all_acked(20s));
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
