// SPDX-License-Identifier: Apache-2.0
#include "thread_time.hpp"

#include <gtest/gtest.h>

namespace takt_record {
namespace {

constexpr std::int64_t us = 1000;
constexpr std::uint64_t one = 0x1000;
constexpr std::uint64_t other = 0x2010;

struct Played {
  static inline std::int64_t cpu = 0;
  static inline int asked = 0;
  static std::int64_t now() noexcept {
    ++asked;
    return cpu;
  }
};

class Thread : public testing::Test {
 protected:
  void SetUp() override {
    Played::cpu = 0;
    Played::asked = 0;
  }

  void compute(std::int64_t time) {
    now_ += time;
    Played::cpu += time;
  }
  void wait(std::int64_t time) { now_ += time; }

  // The CPU time that is recorded of a call; `lost`: without the core, within it.
  std::int64_t call(std::uint64_t callback, std::int64_t computed, std::int64_t lost = 0) {
    const std::int64_t begin = time_.begin(now_, callback);
    compute(computed);
    wait(lost);
    return time_.end(now_, callback) - begin;
  }

  std::int64_t now_ = 0;
  ThreadTime<Played> time_;
};

TEST_F(Thread, asks_the_clock_of_short_calls_once_in_a_while) {
  call(one, 5 * us);
  Played::asked = 0;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(call(one, 5 * us), 5 * us);
    wait(5 * us);
  }
  EXPECT_GE(Played::asked, 9);  // once in each of 10 ms
  EXPECT_LE(Played::asked, 10);
}

TEST_F(Thread, has_the_clock_of_long_calls_at_both_ends) {
  for (int i = 0; i < 100; ++i) {
    Played::asked = 0;
    EXPECT_EQ(call(one, 50 * us, 7000 * us), 50 * us);
    EXPECT_EQ(Played::asked, 2);
    compute(300 * us);  // outside
  }
}

TEST_F(Thread, counts_too_much_only_of_a_call_that_is_long_for_once) {
  call(one, 5 * us);
  compute(100 * us);
  EXPECT_EQ(call(one, 6 * us, 40 * us), 46 * us);  // no longer than it lasted
  call(one, 6 * us);
  compute(100 * us);
  EXPECT_EQ(call(one, 6 * us, 9000 * us), 6 * us + 106 * us);
  EXPECT_EQ(call(one, 6 * us, 9000 * us), 6 * us);  // the next one is exact
}

TEST_F(Thread, keeps_calls_apart_that_are_within_calls) {
  call(one, 5 * us);
  call(other, 5 * us);
  const std::int64_t outer = time_.begin(now_, one);
  compute(4 * us);
  EXPECT_EQ(call(other, 3 * us), 3 * us);
  EXPECT_EQ(call(one, 2 * us), 2 * us);  // and within itself
  compute(1 * us);
  const std::int64_t all = time_.end(now_, one) - outer;
  EXPECT_GE(all, 10 * us);
  EXPECT_LE(all, 10 * us + stale);
}

TEST_F(Thread, is_cheap_again_after_a_call_whose_end_is_missing) {
  call(one, 5 * us);
  time_.begin(now_, other);  // an exception left it, or the recording paused
  call(one, 5 * us);
  Played::asked = 0;
  EXPECT_EQ(call(one, 5 * us), 5 * us);
  EXPECT_EQ(Played::asked, 0);
  time_.end(now_, other);  // one that begun while it paused
  EXPECT_EQ(Played::asked, 1);
}

}  // namespace
}  // namespace takt_record
