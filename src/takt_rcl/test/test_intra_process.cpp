// SPDX-License-Identifier: Apache-2.0
//
// Messages by pointer within one context: who sees the publisher's own, who gets a copy.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <takt_interfaces/msg/sample.hpp>
#include <takt_interfaces/msg/sample_fixed64_b.hpp>
#include <utility>
#include <vector>

#include "intra_process_support.hpp"

namespace takt::test {
namespace {

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

TEST(IntraProcess, reports_that_and_when_and_counts_each_publishers_messages) {
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

}  // namespace
}  // namespace takt::test
