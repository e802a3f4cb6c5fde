// SPDX-License-Identifier: Apache-2.0
#include "executor/throttling.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace takt::executor {
namespace {

using namespace std::chrono_literals;

class ThrottlingTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!Throttling::possible()) {
      GTEST_SKIP() << "this kernel leaves real-time threads everything";
    }
    throttling_.watch({0});
  }

  // Whether something is told of a core that was used for so long at a time.
  bool reported(std::chrono::nanoseconds used, std::chrono::nanoseconds at) {
    return throttling_.look({used}, os::TimePoint{at}).has_value();
  }

 private:
  Throttling throttling_;
};

TEST_F(ThrottlingTest, a_core_that_was_full_for_longer_than_a_period_is_reported_once) {
  EXPECT_FALSE(reported(0s, 10s));
  EXPECT_TRUE(reported(2s, 12s));
  EXPECT_FALSE(reported(4s, 14s));
}

TEST_F(ThrottlingTest, says_nothing_of_a_core_that_was_full_for_less_than_a_period) {
  EXPECT_FALSE(reported(0s, 10s));
  EXPECT_FALSE(reported(30ms, 10s + 30ms));  // a change came, and another one while a callback ran
  EXPECT_FALSE(reported(60ms, 10s + 60ms));
  EXPECT_FALSE(reported(60ms, 12s));
}

TEST_F(ThrottlingTest, counts_what_was_used_between_looks_that_came_too_early) {
  EXPECT_FALSE(reported(0s, 10s));
  EXPECT_FALSE(reported(600ms, 10s + 600ms));
  EXPECT_TRUE(reported(1200ms, 11s + 200ms));
}

}  // namespace
}  // namespace takt::executor
