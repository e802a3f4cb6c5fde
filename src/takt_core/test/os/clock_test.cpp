// SPDX-License-Identifier: Apache-2.0
#include "takt/os/clock.hpp"

#include <gtest/gtest.h>

#include "takt/os/stop.hpp"

namespace takt::os {
namespace {

using namespace std::chrono_literals;

TEST(Clock, never_runs_backwards) {
  TimePoint last = now();
  for (int reading = 0; reading < 10'000; ++reading) {
    const TimePoint next = now();
    ASSERT_GE(next, last);
    last = next;
  }
}

TEST(Clock, is_the_kernels_monotonic_clock) {
  timespec before{};
  timespec after{};
  clock_gettime(CLOCK_MONOTONIC, &before);
  const TimePoint time = now();
  clock_gettime(CLOCK_MONOTONIC, &after);
  const auto ns = [](const timespec& t) { return t.tv_sec * 1'000'000'000L + t.tv_nsec; };
  EXPECT_GE(time.time_since_epoch().count(), ns(before));
  EXPECT_LE(time.time_since_epoch().count(), ns(after));
}

TEST(Clock, system_call_time_splits_into_seconds_and_nanoseconds) {
  const timespec time = to_timespec(TimePoint{3s + 999'999'999ns});
  EXPECT_EQ(time.tv_sec, 3);
  EXPECT_EQ(time.tv_nsec, 999'999'999);
}

TEST(Clock, time_before_the_epoch_becomes_the_epoch_because_the_kernel_rejects_it) {
  const timespec time = to_timespec(TimePoint{-1ns});
  EXPECT_EQ(time.tv_sec, 0);
  EXPECT_EQ(time.tv_nsec, 0);
}

TEST(Sleep, never_ends_before_its_time) {
  for (const auto duration : {1ns, 50'000ns, 2'000'000ns}) {
    const TimePoint wake = now() + duration;
    sleep_until(wake);
    EXPECT_GE(now(), wake);
  }
}

TEST(Sleep, returns_for_a_time_that_has_passed) {
  sleep_until(now() - 1h);
  sleep_until(TimePoint{-1h});
}

TEST(Sleep, without_a_stop_lasts_to_its_end) {
  const StopFlag stop;
  const TimePoint wake = now() + 1ms;
  EXPECT_TRUE(sleep_until(wake, stop));
  EXPECT_GE(now(), wake);
}

TEST(Sleep, does_not_start_when_stop_was_requested) {
  StopFlag stop;
  stop.request();
  EXPECT_FALSE(sleep_until(now() + 24h, stop));
}

TEST(RealtimeOffset, turns_monotonic_time_into_wall_time) {
  const auto before = std::chrono::system_clock::now().time_since_epoch();
  const auto wall = now().time_since_epoch() + realtime_offset();
  const auto after = std::chrono::system_clock::now().time_since_epoch();
  // Wide enough for a step of the wall clock by its time service; a wrong sign or unit is hours.
  EXPECT_GT(wall, before - 1min);
  EXPECT_LT(wall, after + 1min);
}

}  // namespace
}  // namespace takt::os
