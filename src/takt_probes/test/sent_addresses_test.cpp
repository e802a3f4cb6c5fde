// SPDX-License-Identifier: Apache-2.0
#include "sent_addresses.hpp"

#include <gtest/gtest.h>

namespace takt::probe {
namespace {

TEST(SentAddresses, report_a_message_that_was_handed_over_from_a_copy) {
  SentAddresses addresses;
  const int one = 0;
  const int other = 0;
  addresses.note(0, &one);
  addresses.note(1, &one);
  addresses.compare(0, &one);
  addresses.compare(1, &other);
  EXPECT_EQ(addresses.result().compared, 2U);
  EXPECT_EQ(addresses.result().same, 1U);
}

TEST(SentAddresses, do_not_count_what_was_never_noted_or_is_long_ago) {
  SentAddresses addresses;
  const int message = 0;
  addresses.compare(0, &message);
  for (std::uint64_t sequence = 0; sequence < 10'000; ++sequence) {
    addresses.note(sequence, &message);
  }
  addresses.compare(0, &message);
  EXPECT_EQ(addresses.result().compared, 0U);
  addresses.compare(9'999, &message);
  EXPECT_EQ(addresses.result().same, 1U);
}

}  // namespace
}  // namespace takt::probe
