// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/pacer.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

/// A clock that moves only when somebody sleeps or works on it.
struct VirtualTime {
  os::TimePoint now{};
  std::vector<os::TimePoint> sleeps;
};

struct VirtualSleep {
  VirtualTime* time;

  os::TimePoint now() const noexcept { return time->now; }
  void sleep_until(os::TimePoint due, const os::StopFlag& /*stop*/) const {
    time->sleeps.push_back(due);
    time->now = std::max(time->now, due);
  }
};

constexpr os::TimePoint start{1'234'567'891ns};

class PacerTest : public testing::Test {
 protected:
  BasicPacer<VirtualSleep> pacer(std::chrono::nanoseconds period, OverloadRule rule = {}) {
    return {start, period, rule, VirtualSleep{&time_}};
  }

  VirtualTime time_{.now = start - 1ms, .sleeps = {}};
  os::StopFlag stop_;
};

TEST_F(PacerTest, start_times_do_not_drift_in_a_million_odd_periods) {
  const auto pace = pacer(333'333ns);
  for (std::int64_t k = 0; k <= 1'000'000; ++k) {
    ASSERT_EQ(pace.intended(static_cast<std::uint64_t>(k)).time_since_epoch().count(),
              1'234'567'891 + k * 333'333);
  }
}

TEST_F(PacerTest, sleeps_until_each_start_time_exactly) {
  auto pace = pacer(1ms);
  for (std::uint64_t k = 0; k < 1000; ++k) {
    pace.wait(k, stop_);
    time_.now += 300us;  // the work of each sample shifts nothing
  }
  ASSERT_EQ(time_.sleeps.size(), 1000U);
  for (std::size_t k = 0; k < 1000; ++k) {
    ASSERT_EQ(time_.sleeps[k], start + static_cast<std::int64_t>(k) * 1ms);
  }
  EXPECT_EQ(pace.overruns(), 0U);
}

TEST_F(PacerTest, the_upcoming_sample_is_the_first_that_has_not_passed) {
  const auto pace = pacer(1ms);
  EXPECT_EQ(pace.upcoming(0), 0U);
  EXPECT_EQ(pace.upcoming(7), 7U);
  time_.now = start + 3ms;
  EXPECT_EQ(pace.upcoming(1), 3U);
  EXPECT_EQ(pace.upcoming(3), 3U);
  time_.now = start + 3ms + 1ns;
  EXPECT_EQ(pace.upcoming(3), 4U);
  EXPECT_EQ(pace.upcoming(1), 4U);
}

TEST_F(PacerTest, a_late_sample_starts_at_once_and_moves_none_after_it) {
  auto pace = pacer(1ms);
  pace.wait(0, stop_);
  time_.now += 2500us;  // samples 1 and 2 are due already
  pace.wait(1, stop_);
  pace.wait(2, stop_);
  EXPECT_EQ(time_.now, start + 2500us);
  EXPECT_EQ(pace.overruns(), 2U);
  pace.wait(3, stop_);
  EXPECT_EQ(time_.now, start + 3ms);
  EXPECT_EQ(pace.intended(1), start + 1ms);
}

TEST_F(PacerTest, a_loop_that_stays_behind_rests_after_its_patience_and_says_so) {
  auto pace = pacer(1us, {.patience = 500ms, .rest = 10ms});
  time_.now = start;
  for (std::uint64_t k = 0; k < 1600; ++k) {
    pace.wait(k, stop_);
    time_.now += 1ms;  // a thousand times too slow
  }
  // 1.6 s of work: after 0.5, 1.0 and 1.5 s of it.
  EXPECT_EQ(pace.rests(), 3U);
  EXPECT_EQ(time_.sleeps.size(), 3U);
  EXPECT_EQ(time_.now, start + 1600ms + 3 * 10ms);
}

TEST_F(PacerTest, a_loop_that_catches_up_in_between_never_rests) {
  auto pace = pacer(1ms, {.patience = 500ms, .rest = 10ms});
  for (std::uint64_t k = 0; k < 10'000; ++k) {
    pace.wait(k, stop_);
    time_.now += k % 400 == 0 ? 300ms : 10us;  // behind for about 0.3 s, again and again
  }
  EXPECT_GT(pace.overruns(), 1000U);
  EXPECT_EQ(pace.rests(), 0U);
}

TEST_F(PacerTest, without_a_rule_an_overloaded_loop_runs_on) {
  auto pace = pacer(1us);
  time_.now = start;
  for (std::uint64_t k = 0; k < 5000; ++k) {
    pace.wait(k, stop_);
    time_.now += 1ms;
  }
  EXPECT_EQ(pace.rests(), 0U);
  EXPECT_EQ(pace.overruns(), 5000U);
  EXPECT_TRUE(time_.sleeps.empty());
}

TEST_F(PacerTest, a_stop_ends_a_real_sleep_that_would_last_for_hours) {
  Pacer pace{os::now() + 5h, 1h};
  stop_.request();
  pace.wait(0, stop_);  // the test's time limit is the proof
  EXPECT_LT(os::now(), pace.intended(0));
}

}  // namespace
}  // namespace takt::probe
