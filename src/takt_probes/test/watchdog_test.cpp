// SPDX-License-Identifier: Apache-2.0
#include "takt/probe/watchdog.hpp"

#include <gtest/gtest.h>

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

Options limited_to(std::chrono::nanoseconds limit) {
  Options options;
  options.time_limit = limit;
  return options;
}

TEST(Watchdog, requests_a_stop_at_the_time_limit) {
  os::StopFlag stop;
  const Watchdog watchdog{limited_to(1ms), stop, [] { return 9; }};
  stop.wait();
  EXPECT_TRUE(watchdog.time_limit_reached());
}

TEST(Watchdog, does_not_blame_the_time_limit_for_a_stop_by_others) {
  os::StopFlag stop;
  const Watchdog watchdog{limited_to(1h), stop, [] { return 9; }};
  stop.request();
  EXPECT_FALSE(watchdog.time_limit_reached());
}

TEST(Watchdog, lets_a_process_that_is_done_go_at_once) {
  os::StopFlag stop;
  {
    const Watchdog watchdog{limited_to(1h), stop, [] { return 9; }};
  }
  EXPECT_FALSE(stop.requested());
}

[[noreturn]] void hang_under_a_watchdog() {
  os::StopFlag stop;
  const Options options = limited_to(1ms);
  const Watchdog watchdog{options, stop, [] { return 9; }};
  while (true) {
    os::sleep_until(os::now() + 1h);
  }
}

TEST(WatchdogDeathTest, ends_a_loop_that_ignores_the_stop_with_the_exit_code_of_the_last_words) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(hang_under_a_watchdog(), testing::ExitedWithCode(9), "");
}

}  // namespace
}  // namespace takt::probe
