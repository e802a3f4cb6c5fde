// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/text_head.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace takt::probe {
namespace {

using std::chrono::nanoseconds;

std::string written(const Message& message, std::size_t bytes = text_head_bytes) {
  std::string text = text_of_length(bytes);
  write_head(message, text.data());
  return text;
}

TEST(TextHead, what_is_written_is_read_whatever_the_numbers_and_the_length) {
  for (const std::uint64_t sequence :
       {std::uint64_t{0}, std::uint64_t{0xabcdef}, std::numeric_limits<std::uint64_t>::max()}) {
    for (const nanoseconds time :
         {nanoseconds{0}, nanoseconds{1'234'567'890'123}, nanoseconds::max(), nanoseconds::min()}) {
      for (const bool last : {false, true}) {
        for (const std::size_t bytes : {text_head_bytes, text_head_bytes + 1, std::size_t{4096}}) {
          const Message sent{.sequence = sequence,
                             .intended = os::TimePoint{time},
                             .sent = os::TimePoint{nanoseconds{-7}},
                             .last = last};
          const std::string text = written(sent, bytes);
          EXPECT_EQ(text.size(), bytes);
          const auto got = read_head(text);
          ASSERT_TRUE(got) << text;
          EXPECT_EQ(got->sequence, sent.sequence);
          EXPECT_EQ(got->intended, sent.intended);
          EXPECT_EQ(got->sent, sent.sent);
          EXPECT_EQ(got->last, sent.last);
        }
      }
    }
  }
}

TEST(TextHead, a_later_head_replaces_the_one_before_and_leaves_the_rest) {
  std::string text = written({.sequence = 0xffff, .last = true}, text_head_bytes + 3);
  write_head({.sequence = 1}, text.data());
  EXPECT_EQ(read_head(text)->sequence, 1U);
  EXPECT_FALSE(read_head(text)->last);
  EXPECT_EQ(text.substr(text_head_bytes), "...");
}

TEST(TextHead, another_text_has_none) {
  const std::string good = written({.sequence = 5});
  EXPECT_FALSE(read_head(""));
  EXPECT_FALSE(read_head(good.substr(1)));
  EXPECT_FALSE(read_head(std::string(text_head_bytes, '.')));
  for (std::size_t place = 0; place < good.size(); ++place) {
    std::string broken = good;
    broken[place] = 'x';
    EXPECT_FALSE(read_head(broken)) << place;
  }
}

}  // namespace
}  // namespace takt::probe
