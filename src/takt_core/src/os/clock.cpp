// SPDX-License-Identifier: Apache-2.0
#include "takt/os/clock.hpp"

#include <algorithm>
#include <cerrno>

#include "takt/os/stop.hpp"

namespace takt::os {

timespec to_timespec(TimePoint time) noexcept {
  const auto since = std::max(time.time_since_epoch(), std::chrono::nanoseconds::zero());
  const auto whole = std::chrono::floor<std::chrono::seconds>(since);
  return {.tv_sec = static_cast<std::time_t>(whole.count()),
          .tv_nsec = static_cast<long>((since - whole).count())};
}

void sleep_until(TimePoint wake) noexcept {
  const timespec time = to_timespec(wake);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

bool sleep_until(TimePoint wake, const StopFlag& stop) noexcept {
  const timespec time = to_timespec(wake);
  while (!stop.requested()) {
    if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != EINTR) {
      break;
    }
  }
  return !stop.requested();
}

std::chrono::nanoseconds realtime_offset() noexcept {
  constexpr int readings = 8;
  auto tightest = std::chrono::nanoseconds::max();
  std::chrono::nanoseconds offset{0};
  for (int reading = 0; reading < readings; ++reading) {
    timespec real{};
    const TimePoint before = now();
    clock_gettime(CLOCK_REALTIME, &real);
    const TimePoint after = now();
    if (after - before < tightest) {
      tightest = after - before;
      const TimePoint middle = before + tightest / 2;
      offset = std::chrono::seconds{real.tv_sec} + std::chrono::nanoseconds{real.tv_nsec} -
               middle.time_since_epoch();
    }
  }
  return offset;
}

}  // namespace takt::os
