// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/ledger.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace takt::probe {
namespace {

TEST(SequenceLedger, finds_nothing_wrong_with_an_orderly_arrival) {
  SequenceLedger ledger{100};
  for (std::uint64_t sequence = 0; sequence < 100; ++sequence) {
    EXPECT_TRUE(ledger.enter(sequence));
  }
  EXPECT_EQ(ledger.received(), 100U);
  EXPECT_EQ(ledger.lost(100), 0U);
  EXPECT_EQ(ledger.duplicated(), 0U);
  EXPECT_EQ(ledger.out_of_order(), 0U);
}

TEST(SequenceLedger, counts_a_late_arrival_as_out_of_order_and_not_as_lost) {
  SequenceLedger ledger{10};
  for (const std::uint64_t sequence : {0U, 2U, 1U, 3U}) {
    EXPECT_TRUE(ledger.enter(sequence));
  }
  EXPECT_EQ(ledger.out_of_order(), 1U);
  EXPECT_EQ(ledger.lost(), 0U);
}

TEST(SequenceLedger, refuses_a_duplicate_however_late_it_comes) {
  SequenceLedger ledger{1000};
  for (std::uint64_t sequence = 0; sequence < 1000; ++sequence) {
    ledger.enter(sequence);
  }
  EXPECT_FALSE(ledger.enter(0));
  EXPECT_FALSE(ledger.enter(999));
  EXPECT_EQ(ledger.duplicated(), 2U);
  EXPECT_EQ(ledger.received(), 1000U);
  EXPECT_EQ(ledger.out_of_order(), 0U);
}

TEST(SequenceLedger, knows_losses_at_the_end_only_from_the_number_sent) {
  SequenceLedger ledger{10};
  ledger.enter(0);
  ledger.enter(4);
  EXPECT_EQ(ledger.lost(), 3U);
  EXPECT_EQ(ledger.lost(10), 8U);
}

TEST(SequenceLedger, accepts_sequences_beyond_what_was_expected) {
  SequenceLedger ledger{2};
  EXPECT_TRUE(ledger.enter(5));
  EXPECT_FALSE(ledger.has(5));
  EXPECT_EQ(ledger.lost(), 5U);
}

TEST(SequenceLedger, agrees_with_a_recount_of_shuffled_arrivals) {
  std::mt19937_64 random{20260131};
  for (int round = 0; round < 50; ++round) {
    std::vector<std::uint64_t> arrivals(200);
    for (auto& arrival : arrivals) {
      arrival = random() % 200;
    }
    SequenceLedger ledger{200};
    for (const auto arrival : arrivals) {
      ledger.enter(arrival);
    }
    std::vector<std::uint64_t> distinct = arrivals;
    std::ranges::sort(distinct);
    distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
    EXPECT_EQ(ledger.received(), distinct.size());
    EXPECT_EQ(ledger.duplicated(), arrivals.size() - distinct.size());
    EXPECT_EQ(ledger.lost(200), 200 - distinct.size());
  }
}

}  // namespace
}  // namespace takt::probe
