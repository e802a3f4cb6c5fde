// SPDX-License-Identifier: Apache-2.0
#include "takt/executor/calendar.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <utility>

namespace takt::executor {
namespace {

TEST(Calendar, AlwaysHasTheEarliestTaskInFront) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    constexpr TaskIndex tasks = 40;
    std::mt19937 random{seed};
    Calendar calendar{tasks};
    std::set<std::pair<TimePoint, TaskIndex>> expected;
    std::map<TaskIndex, TimePoint> times;
    for (int step = 0; step < 2000; ++step) {
      const auto task = static_cast<TaskIndex>(random() % tasks);
      if (const auto known = times.find(task); known != times.end()) {
        expected.erase({known->second, task});
        times.erase(known);
      }
      if (random() % 3 == 0) {
        calendar.remove(task);
      } else {
        const TimePoint time{std::chrono::nanoseconds{random() % 50}};  // many are equal
        calendar.set(task, time);
        expected.insert({time, task});
        times[task] = time;
      }
      ASSERT_EQ(calendar.size(), expected.size());
      ASSERT_EQ(calendar.contains(task), times.contains(task));
      const TimePoint after{std::chrono::nanoseconds{random() % 50}};
      const auto next =
          std::ranges::find_if(expected, [&](const auto& entry) { return entry.first > after; });
      ASSERT_EQ(calendar.next_time_after(after),
                next == expected.end() ? TimePoint::max() : next->first);
      if (expected.empty()) {
        ASSERT_EQ(calendar.next_time(), TimePoint::max());
      } else {
        ASSERT_EQ(std::pair(calendar.first_time(), calendar.first()), *expected.begin());
      }
    }
  }
}

}  // namespace
}  // namespace takt::executor
