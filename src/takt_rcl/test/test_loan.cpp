// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <takt_interfaces/msg/sample.hpp>
#include <takt_interfaces/msg/sample_fixed1_mb.hpp>
#include <takt_interfaces/msg/sample_fixed64_b.hpp>
#include <utility>

#include "support.hpp"

namespace takt::test {
namespace {

using Sample = takt_interfaces::msg::Sample;
using Small = takt_interfaces::msg::SampleFixed64B;
using Large = takt_interfaces::msg::SampleFixed1MB;

constexpr SubscriptionOptions with_loans{.loaned_messages = true};

class Loan : public testing::Test {
 protected:
  void SetUp() override {
    if (!link.out->can_loan_messages()) GTEST_SKIP() << "this middleware lends no messages";
    if (!link.in->can_loan_messages()) GTEST_SKIP() << "this middleware lends to publishers only";
    ASSERT_TRUE(link.connect());
  }

  // Borrows, numbers and publishes one message.
  Status send(std::uint64_t sequence) {
    auto loan = link.out->borrow_loaned_message();
    if (!loan.is_valid()) return Status{RCL_RET_BAD_ALLOC};
    loan.get().sequence = sequence;
    loan.get().payload.fill(static_cast<std::uint8_t>(sequence));
    return link.out->publish(std::move(loan));
  }

  bool receive(ReceivedLoan<Small>& loan) {
    return eventually([&] { return static_cast<bool>(link.in->take_loaned(loan, info)); });
  }

  Link<Small> link{"loan", QoS{10}, with_loans};
  MessageInfo info;
};

TEST_F(Loan, is_published_and_received_in_place) {
  ASSERT_TRUE(send(7));
  ReceivedLoan<Small> got;
  ASSERT_TRUE(receive(got));
  ASSERT_TRUE(got.is_valid());
  EXPECT_EQ(got.get().sequence, 7U);
  EXPECT_EQ(got.get().payload.back(), 7);
  EXPECT_NE(info.publication_sequence_number, MessageInfo::sequence_unsupported);
}

TEST_F(Loan, can_be_taken_as_a_copy_and_a_copy_can_be_taken_as_a_loan) {
  ASSERT_TRUE(send(1));
  Small copy;
  ASSERT_TRUE(link.receive(copy, info));
  EXPECT_EQ(copy.sequence, 1U);
  copy.sequence = 2;
  ASSERT_TRUE(link.out->publish(copy));
  ReceivedLoan<Small> got;
  ASSERT_TRUE(receive(got));
  EXPECT_EQ(got.get().sequence, 2U);
}

TEST_F(Loan, is_invalid_after_it_was_published) {
  auto loan = link.out->borrow_loaned_message();
  ASSERT_TRUE(loan.is_valid());
  loan.get().sequence = 1;
  ASSERT_TRUE(link.out->publish(std::move(loan)));
  EXPECT_FALSE(loan.is_valid());
  EXPECT_EQ(link.out->publish(std::move(loan)).code(), RCL_RET_INVALID_ARGUMENT);
}

TEST_F(Loan, goes_back_when_not_published_so_that_the_memory_never_runs_out) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(link.out->borrow_loaned_message().is_valid()) << i << ": " << last_error();
  }
  ASSERT_TRUE(send(1));
}

TEST_F(Loan, moves) {
  auto first = link.out->borrow_loaned_message();
  ASSERT_TRUE(first.is_valid());
  auto second = std::move(first);
  EXPECT_FALSE(first.is_valid());
  ASSERT_TRUE(second.is_valid());
  second = link.out->borrow_loaned_message();  // the one it held goes back
  EXPECT_TRUE(second.is_valid());
  second = {};
  EXPECT_FALSE(second.is_valid());
}

TEST_F(Loan, of_another_publisher_is_refused_and_goes_back) {
  const auto other = link.from.create_publisher<Small>(unique_topic("other"), QoS{10});
  auto loan = other->borrow_loaned_message();
  ASSERT_TRUE(loan.is_valid());
  EXPECT_EQ(link.out->publish(std::move(loan)).code(), RCL_RET_INVALID_ARGUMENT);
  EXPECT_FALSE(loan.is_valid());
}

TEST_F(Loan, is_refused_after_shutdown_and_still_goes_back) {
  ASSERT_TRUE(send(1));
  ReceivedLoan<Small> received;
  ASSERT_TRUE(receive(received));
  auto loan = link.out->borrow_loaned_message();
  auto kept = link.out->borrow_loaned_message();
  ASSERT_TRUE(loan.is_valid() && kept.is_valid());
  link.context.shutdown();
  EXPECT_EQ(link.out->publish(std::move(loan)).code(), RCL_RET_PUBLISHER_INVALID);
  EXPECT_FALSE(link.out->borrow_loaned_message().is_valid());
}

TEST_F(Loan, keeps_its_publisher_alive) {
  auto loan = link.out->borrow_loaned_message();
  ASSERT_TRUE(loan.is_valid());
  const std::weak_ptr<Publisher<Small>> watched = link.out;
  link.out.reset();
  EXPECT_FALSE(watched.expired());
  loan = {};
  EXPECT_TRUE(watched.expired());
}

TEST_F(Loan, received_keeps_its_content_and_its_subscription_while_it_is_held) {
  ASSERT_TRUE(send(1));
  ReceivedLoan<Small> held;
  ASSERT_TRUE(receive(held));
  for (std::uint64_t i = 2; i < 8; ++i) ASSERT_TRUE(send(i)) << last_error();
  EXPECT_EQ(held.get().sequence, 1U);
  const std::weak_ptr<Subscription<Small>> watched = link.in;
  link.in.reset();
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(held.get().payload.front(), 1);
  held = {};
  EXPECT_TRUE(watched.expired());
}

TEST_F(Loan, received_goes_back_before_the_next_is_taken) {
  ReceivedLoan<Small> got;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(send(i)) << i << ": " << last_error();
    ASSERT_TRUE(receive(got)) << i << ": " << last_error();
    ASSERT_EQ(got.get().sequence, i);
  }
  EXPECT_TRUE(link.in->take_loaned(got, info).nothing_taken());
  EXPECT_FALSE(got.is_valid());
}

TEST(LoanOfLargeMessage, carries_1_MB) {
  const Link<Large> link{"loan_large", QoS{2}, with_loans};
  if (!link.out->can_loan_messages()) GTEST_SKIP() << "this middleware lends no messages";
  ASSERT_TRUE(link.connect());
  auto loan = link.out->borrow_loaned_message();
  ASSERT_TRUE(loan.is_valid()) << last_error();
  loan.get().payload.fill(0x5A);
  ASSERT_TRUE(link.out->publish(std::move(loan)));
  ReceivedLoan<Large> got;
  MessageInfo info;
  ASSERT_TRUE(eventually([&] { return static_cast<bool>(link.in->take_loaned(got, info)); }));
  EXPECT_EQ(got.get().payload.front(), 0x5A);
  EXPECT_EQ(got.get().payload.back(), 0x5A);
}

TEST(LoanOfUnboundedMessage, is_refused_on_both_sides_and_says_why) {
  const Link<Sample> link{"unbounded", QoS{10}, with_loans};
  EXPECT_FALSE(link.out->can_loan_messages());
  EXPECT_FALSE(link.in->can_loan_messages());
  EXPECT_FALSE(link.out->borrow_loaned_message().is_valid());
  EXPECT_STRNE(last_error(), "");
  ReceivedLoan<Sample> got;
  MessageInfo info;
  EXPECT_EQ(link.in->take_loaned(got, info).code(), RCL_RET_UNSUPPORTED);
  EXPECT_FALSE(got.is_valid());
}

TEST(LoanToSubscription, is_off_where_the_options_say_so) {
  const Link<Small> link{"off", QoS{10}, SubscriptionOptions{.loaned_messages = false}};
  EXPECT_FALSE(link.in->can_loan_messages());
  ReceivedLoan<Small> got;
  MessageInfo info;
  EXPECT_EQ(link.in->take_loaned(got, info).code(), RCL_RET_UNSUPPORTED);
}

}  // namespace
}  // namespace takt::test
