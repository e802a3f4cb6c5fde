// SPDX-License-Identifier: Apache-2.0
#include "sim/calendar.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>
#include <vector>

#include "sim/random.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::sim {
namespace {

using namespace std::chrono_literals;

TEST(SimCalendar, is_ordered_by_time_then_index_as_a_sorted_set_is) {
  std::mt19937 random{3};
  for (const std::size_t size : {1U, 2U, 3U, 50U, 64U, 65U}) {
    Calendar calendar{size};
    std::set<std::pair<TimePoint, std::uint32_t>> expected;
    std::vector<TimePoint> times(size, TimePoint::max());
    EXPECT_EQ(calendar.first_time(), TimePoint::max());
    for (int step = 0; step < 2000; ++step) {
      const auto index = static_cast<std::uint32_t>(random() % size);
      const bool out = random() % 5 == 0;
      const TimePoint time = out ? TimePoint::max() : TimePoint{nanoseconds{random() % 20}};
      expected.erase({times[index], index});
      times[index] = time;
      if (out) {
        calendar.remove(index);
      } else {
        calendar.set(index, time);
        expected.insert({time, index});
      }
      if (expected.empty()) {
        ASSERT_EQ(calendar.first_time(), TimePoint::max());
      } else {
        ASSERT_EQ(calendar.first_time(), expected.begin()->first);
        ASSERT_EQ(calendar.first(), expected.begin()->second);
      }
    }
  }
}

TEST(SimRandom, follows_the_quantiles) {
  const std::vector<nanoseconds> quantiles{100ns, 200ns, 400ns};  // half of it below 200
  const RandomStream stream{1, 0};
  int below = 0;
  nanoseconds sum{0};
  constexpr int draws = 100'000;
  for (std::uint64_t i = 0; i < draws; ++i) {
    const nanoseconds value = quantile(quantiles, stream.at(i));
    ASSERT_GE(value, 100ns);
    ASSERT_LE(value, 400ns);
    below += value < 200ns ? 1 : 0;
    sum += value;
  }
  EXPECT_NEAR(below, draws / 2, draws / 100);
  EXPECT_NEAR(static_cast<double>(sum.count()) / draws, (150.0 + 300.0) / 2, 2);
  const std::vector<nanoseconds> constant{7ns};
  EXPECT_EQ(quantile(constant, stream.at(3)), 7ns);
}

TEST(SimRandom, is_the_same_on_every_machine) {
  const RandomStream stream{42, 7};
  EXPECT_EQ(stream.at(0), RandomStream(42, 7).at(0));
  EXPECT_NE(stream.at(0), stream.at(1));
  EXPECT_NE(stream.at(0), RandomStream(43, 7).at(0));
  EXPECT_NE(stream.at(0), RandomStream(42, 8).at(0));
  // SplitMix64 from the state 0 begins with this number (Vigna's reference implementation).
  EXPECT_EQ(mix(0x9E3779B97F4A7C15U), 0xE220A8397B1DCDAFU);
}

TEST(SimDuration, is_two_hyperperiods_and_the_largest_offset_up_to_a_minute) {
  application::Application app{.name = "periods"};
  for (const auto& [period, offset] : {std::pair{6ms, 0ms}, std::pair{10ms, 4ms}}) {
    application::Callback callback;
    callback.task.name = std::to_string(period.count());
    callback.task.parameters.period = period;
    callback.task.parameters.offset = offset;
    app.callbacks.push_back(callback);
  }
  EXPECT_EQ(hyperperiod(app), 30ms);
  app.switches = {{.at = 2s, .scenario = "other"}};
  EXPECT_EQ(default_duration(app).time, 2s + 64ms);
  app.switches = {{.at = 59'950ms, .scenario = "other"}};
  EXPECT_EQ(default_duration(app).time, 60s);
  app.switches.clear();
  EXPECT_EQ(default_duration(app).time, 64ms);
  app.topics.push_back({.name = "outside", .external = true, .external_period = 7ms});
  EXPECT_EQ(hyperperiod(app), 210ms);
  app.callbacks[0].task.parameters.period = 999'983'777ns;
  app.callbacks[1].task.parameters.period = 999'999'937ns;
  EXPECT_EQ(default_duration(app).time, 60s);
  app.callbacks[0].task.parameters.active = false;
  app.callbacks[1].task.parameters.active = false;
  EXPECT_EQ(hyperperiod(app), 7ms);
  app.topics.clear();
  EXPECT_FALSE(hyperperiod(app));
}

}  // namespace
}  // namespace takt::sim
