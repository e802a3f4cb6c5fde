// SPDX-License-Identifier: Apache-2.0
//
// Absolute pacing without coordinated omission. Sample k is intended at start + k * period,
// computed and never summed up, so nothing drifts. A loop that is late starts its sample at once
// and keeps the intended time: the delay is in the sample, and the samples after it do not move.
// A loop that is to wait for the next start time instead asks which one is upcoming.
//
// The one bound: a loop that stays behind never sleeps, and at a real-time priority it would take
// its CPU from everything else for as long as it runs. After `patience` without having caught up it
// has to rest. Rests are counted, because they are a disturbance of our own making.
#pragma once

#include <chrono>
#include <cstdint>

#include "takt/os/clock.hpp"
#include "takt/os/stop.hpp"

namespace takt::probe {

/// How a loop that stays behind is bounded; with a `rest` of zero it runs on.
struct OverloadRule {
  std::chrono::nanoseconds patience{std::chrono::milliseconds{500}};
  std::chrono::nanoseconds rest{0};
};

/// Sleeps on the real clock. `sleep_until` ends early when a stop is requested.
struct RealSleep {
  static os::TimePoint now() noexcept { return os::now(); }

  static void sleep_until(os::TimePoint due, const os::StopFlag& stop) noexcept {
    // A far wake-up is approached on the flag, which no stop request can miss; the last stretch is
    // the bare clock_nanosleep that the measurement is about.
    constexpr std::chrono::milliseconds last_stretch{50};
    if (due - os::now() > 2 * last_stretch && stop.wait_until(due - last_stretch)) {
      return;
    }
    os::sleep_until(due, stop);
  }
};

template <class Sleep>
class BasicPacer {
 public:
  BasicPacer(os::TimePoint start, std::chrono::nanoseconds period, OverloadRule rule = {},
             Sleep sleep = {})
      : start_{start}, period_{period}, rule_{rule}, sleep_{sleep}, caught_up_{start} {}

  os::TimePoint intended(std::uint64_t k) const noexcept {
    return start_ + static_cast<std::int64_t>(k) * period_;
  }

  /// Sleeps until sample `k` is due; returns at once when that has passed, and early when a stop
  /// is requested.
  void wait(std::uint64_t k, const os::StopFlag& stop) noexcept {
    const auto due = intended(k);
    const auto now = sleep_.now();
    if (now < due) {
      sleep_.sleep_until(due, stop);
      caught_up_ = due;
      return;
    }
    ++overruns_;
    if (rule_.rest.count() > 0 && now - caught_up_ >= rule_.patience) {
      sleep_.sleep_until(now + rule_.rest, stop);
      caught_up_ = sleep_.now();
      ++rests_;
    }
  }

  /// The first sample from `k` on whose start time has not passed.
  std::uint64_t upcoming(std::uint64_t k) const noexcept {
    const auto behind = sleep_.now() - intended(k);
    if (behind.count() <= 0) {
      return k;
    }
    return k + static_cast<std::uint64_t>((behind.count() - 1) / period_.count() + 1);
  }

  /// Samples whose start time had passed already.
  std::uint64_t overruns() const noexcept { return overruns_; }
  /// Rests that the overload rule forced.
  std::uint64_t rests() const noexcept { return rests_; }

 private:
  os::TimePoint start_;
  std::chrono::nanoseconds period_;
  OverloadRule rule_;
  Sleep sleep_;
  os::TimePoint caught_up_;  // when the loop last had time to sleep
  std::uint64_t overruns_ = 0;
  std::uint64_t rests_ = 0;
};

using Pacer = BasicPacer<RealSleep>;

}  // namespace takt::probe
