// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/calendar.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace takt::sched {
namespace {

using std::chrono::nanoseconds;

TEST(Calendar, is_ordered_by_time_then_index_as_a_sorted_set_is) {
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

// Against the plain reading of what each question means.
TEST(Calendar, answers_about_the_first_places_as_a_search_through_all_of_them_does) {
  std::mt19937 random{5};
  for (const std::size_t size : {1U, 2U, 7U, 33U, 64U}) {
    Calendar calendar{64};
    calendar.clear(size);
    std::vector<TimePoint> times(size, TimePoint::max());
    for (int step = 0; step < 3000; ++step) {
      const auto place = static_cast<std::uint32_t>(random() % size);
      times[place] = random() % 4 == 0 ? TimePoint::max() : TimePoint{nanoseconds{random() % 20}};
      calendar.set(place, times[place]);
      const std::size_t end = random() % (size + 1);
      const TimePoint time{nanoseconds{random() % 20}};
      TimePoint first = TimePoint::max();
      TimePoint later = TimePoint::max();
      std::size_t due = end;
      for (std::size_t i = 0; i < end; ++i) {
        first = std::min(first, times[i]);
        later = times[i] > time ? std::min(later, times[i]) : later;
        due = due == end && times[i] <= time ? i : due;
      }
      ASSERT_EQ(calendar.first_time_below(end), first);
      ASSERT_EQ(calendar.next_time_after(time, end), later);
      ASSERT_EQ(calendar.lowest_due(time, end), due);
      ASSERT_EQ(calendar.time_of(place), times[place]);
    }
  }
}

}  // namespace
}  // namespace takt::sched
