// SPDX-License-Identifier: Apache-2.0
/// @file
/// The one clock of all measurements: CLOCK_MONOTONIC in nanoseconds, as a std::chrono clock of its
/// own, so that a time point of another clock does not compile where a TimePoint is expected.
/// Sleeps have absolute ends: a late start never shifts the wake-ups after it.
#pragma once

#include <chrono>
#include <ctime>

#include "takt/visibility.hpp"

namespace takt::os {

/// CLOCK_MONOTONIC as a std::chrono clock. Its zero is the start of the machine; it does not jump
/// and does not count the time of a suspended machine.
struct MonotonicClock {
  using duration = std::chrono::nanoseconds;  ///< Resolution: one nanosecond.
  using rep = duration::rep;                  ///< As std::chrono requires of a clock.
  using period = duration::period;            ///< As std::chrono requires of a clock.
  /// As std::chrono requires of a clock.
  using time_point = std::chrono::time_point<MonotonicClock>;
  static constexpr bool is_steady = true;  ///< Never set back.

  /// The present time. Reads the clock through the vDSO, without a system call on common machines.
  static time_point now() noexcept {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time_point{std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec}};
  }
};

/// A point of CLOCK_MONOTONIC. TimePoint::max() stands for "never".
using TimePoint = MonotonicClock::time_point;

class StopFlag;

/// The present time of CLOCK_MONOTONIC. Safe in real-time threads and signal handlers.
inline TimePoint now() noexcept {
  return MonotonicClock::now();
}

/// Converts an absolute time for a system call. A time before the clock's zero becomes zero, which
/// the kernel treats as already passed (it rejects negative times).
TAKT_CORE_PUBLIC timespec to_timespec(TimePoint time) noexcept;

/// Sleeps until `wake` with clock_nanosleep() and an absolute time. A signal handler that runs
/// meanwhile does not shorten the sleep. Returns at once if `wake` has passed.
TAKT_CORE_PUBLIC void sleep_until(TimePoint wake) noexcept;

/// Sleeps until `wake`, or until a stop request whose signal interrupts this thread.
///
/// A request that arrives in the few instructions between the check of the flag and the sleep, or
/// whose signal another thread takes, is noticed only when the sleep ends. For long sleeps use
/// StopFlag::wait_until() instead.
/// @return false if the flag is set, before or after the sleep.
TAKT_CORE_PUBLIC bool sleep_until(TimePoint wake, const StopFlag& stop) noexcept;

/// CLOCK_REALTIME minus CLOCK_MONOTONIC in nanoseconds. Reads both clocks several times and returns
/// the pair that was closest together.
TAKT_CORE_PUBLIC std::chrono::nanoseconds realtime_offset() noexcept;

}  // namespace takt::os
