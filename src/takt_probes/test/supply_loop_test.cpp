// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/supply_loop.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "recorded.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

/// What `watch_window` records where the clock shows these times after `begin`.
class SupplyLoopTest : public testing::Test {
 protected:
  std::vector<Sample> watch(std::deque<std::chrono::nanoseconds> readings,
                            std::chrono::nanoseconds end, std::uint64_t most = 100) {
    Options options;
    options.count = 100;
    os::StopFlag stop;
    auto [outcome, samples] = run_recorded(options, stop, [&](const Bench& bench) {
      const auto clock = [&] {
        const auto reading = begin + readings.front();
        readings.pop_front();
        return reading;
      };
      last = watch_window(7, begin, begin + end, most, bench.samples, clock,
                          [&] { return readings.empty(); });
      return Outcome{};
    });
    left = readings.size();
    return samples;
  }

  const os::TimePoint begin{1h};
  os::TimePoint last{};
  std::size_t left = 0;
};

TEST_F(SupplyLoopTest, what_is_between_two_far_readings_is_a_gap) {
  const auto gaps = watch({40ns, 80ns, 5080ns, 5120ns, 9us, 10us}, 10us);
  ASSERT_EQ(gaps.size(), 3U);
  EXPECT_EQ(gaps[0].sequence, 7U);
  EXPECT_EQ(os::TimePoint{std::chrono::nanoseconds{gaps[0].intended}}, begin + 80ns);
  EXPECT_EQ(gaps[0].sent, gaps[0].intended);
  EXPECT_EQ(os::TimePoint{std::chrono::nanoseconds{gaps[0].received}}, begin + 5080ns);
  EXPECT_EQ(gaps[1].received - gaps[1].intended, 3880);
  EXPECT_EQ(gaps[2].received - gaps[2].intended, shortest_gap.count());
}

TEST_F(SupplyLoopTest, readings_that_are_close_are_supply) {
  EXPECT_TRUE(watch({999ns, 1998ns, 2997ns, 3500ns}, 3us).empty());
}

TEST_F(SupplyLoopTest, a_window_ends_with_the_first_reading_after_its_end) {
  const auto gaps = watch({40ns, 80ns, 50us, 51us, 52us}, 10us);
  EXPECT_EQ(left, 2U);
  EXPECT_EQ(last, begin + 50us);
  ASSERT_EQ(gaps.size(), 1U) << "the gap that reaches beyond the end is whole";
  EXPECT_EQ(gaps[0].received - gaps[0].intended, 49'920);
}

TEST_F(SupplyLoopTest, a_window_whose_end_has_passed_takes_nothing) {
  watch({40ns, 80ns}, 0ns);
  EXPECT_EQ(left, 2U);
}

TEST_F(SupplyLoopTest, gaps_beyond_the_room_prolong_the_last_one) {
  const auto gaps = watch({2us, 4us, 4100ns, 7us, 7100ns, 10us}, 10us, 2);
  ASSERT_EQ(gaps.size(), 2U);
  EXPECT_EQ(gaps[0].received - gaps[0].intended, 2000);
  EXPECT_EQ(gaps[1].received - gaps[1].intended, 8000) << "supply between gaps is not shown";
}

TEST_F(SupplyLoopTest, sleeps_as_long_as_it_watches) {
  EXPECT_EQ(supply_window(200ms), 100ms);
  EXPECT_EQ(gaps_of_a_window(200ms), 500U);
  EXPECT_EQ(gaps_of_a_window(1ms), 16U);
}

TEST_F(SupplyLoopTest, a_sample_is_a_window_with_its_planned_begin) {
  Options options;
  options.kind = Kind::supply;
  options.period = 2ms;
  options.count = 3;
  os::StopFlag stop;
  const auto [outcome, windows] =
      run_recorded(options, stop, [](const Bench& bench) { return supply(bench, nullptr); });
  EXPECT_TRUE(outcome.finished);
  EXPECT_EQ(outcome.received, 3U);
  ASSERT_EQ(windows.size(), 3U);
  for (std::size_t k = 0; k < windows.size(); ++k) {
    EXPECT_EQ(windows[k].sequence, k);
    EXPECT_EQ(windows[k].sent, windows[k].intended);
    EXPECT_GE(windows[k].received, windows[k].intended);
  }
  EXPECT_EQ(windows[2].intended - windows[0].intended, 4'000'000);
}

}  // namespace
}  // namespace takt::probe
