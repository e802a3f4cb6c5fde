// SPDX-License-Identifier: Apache-2.0
//
// The one clock of all measurements: CLOCK_MONOTONIC in nanoseconds, as a std::chrono clock of its
// own, so that a time point of another clock does not compile where a TimePoint is wanted.
// Sleeping is absolute: a late start never moves the wake-ups after it.
#pragma once

#include <chrono>
#include <ctime>

#include "takt/visibility.hpp"

namespace takt::os {

struct MonotonicClock {
  // The names that std::chrono asks of a clock.
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<MonotonicClock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time_point{std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec}};
  }
};

using TimePoint = MonotonicClock::time_point;

class StopFlag;

inline TimePoint now() noexcept {
  return MonotonicClock::now();
}

// The absolute time for a system call. A time before the clock's zero becomes its zero, which the
// kernel takes as "already passed" (it rejects negative times).
TAKT_CORE_PUBLIC timespec to_timespec(TimePoint time) noexcept;

// Sleeps until `wake` with clock_nanosleep; a signal handler that runs meanwhile does not shorten
// the sleep. Returns at once when `wake` has passed.
TAKT_CORE_PUBLIC void sleep_until(TimePoint wake) noexcept;

// The same, ended early by a stop request whose signal interrupts this thread. Returns false when
// the flag is set, before or after the sleep. A request that comes in the few instructions between
// the look at the flag and the sleep, or whose signal another thread takes, is noticed when the
// sleep ends: use StopFlag::wait_until for sleeps that are too long for that.
TAKT_CORE_PUBLIC bool sleep_until(TimePoint wake, const StopFlag& stop) noexcept;

// CLOCK_REALTIME - CLOCK_MONOTONIC, read closely together (the tightest of several readings).
TAKT_CORE_PUBLIC std::chrono::nanoseconds realtime_offset() noexcept;

}  // namespace takt::os
