// SPDX-License-Identifier: Apache-2.0
/// @file
/// The least time that a core provides in any window, as the tests use it: the supply bound
/// function sbf of a periodic resource (Shin & Lee 2003) or of a bounded delay (Mok, Feng & Chen
/// 2001). A test that finds the least t with t >= demand(t) on a whole core finds here the least t
/// with sbf(t) >= demand(t).
#pragma once

#include <chrono>
#include <cstdint>

#include "takt/application/core.hpp"
#include "takt/visibility.hpp"

namespace takt::analysis {

using std::chrono::nanoseconds;

/// The supply of one core.
class TAKT_CORE_PUBLIC Supply {
 public:
  /// All of the time.
  constexpr Supply() noexcept = default;

  /// As declared for a core.
  explicit Supply(const application::Core& core) noexcept;

  /// So many whole cores, each for one thread of an executor.
  [[nodiscard]] static Supply of_threads(std::int64_t count) noexcept {
    return Supply{}.for_threads(count);
  }

  /// So many cores, each for one thread of an executor, which all provide their time when this
  /// supply does.
  [[nodiscard]] Supply for_threads(std::int64_t count) const noexcept;

  /// The threads of the executor, each on a core of its own.
  [[nodiscard]] std::int64_t threads() const noexcept { return threads_; }

  /// Whether the core provides all of its time.
  [[nodiscard]] bool whole() const noexcept { return whole_; }

  /// Whether it does, and nothing interrupts the jobs.
  [[nodiscard]] bool undisturbed() const noexcept { return !interrupted_; }

  /// The longest window in which this work may not be done: the least t with sbf(t) >= work.
  [[nodiscard]] nanoseconds time_for(nanoseconds work) const noexcept {
    return whole_ ? work : limited_time_for(work);
  }

  /// The same for so many windows together, over which the work is spread in any way.
  [[nodiscard]] nanoseconds time_in_parts(nanoseconds work, std::int64_t windows) const noexcept {
    return whole_ ? work : limited_time_in_parts(work, windows);
  }

  /// When a job begins to compute at the latest after this work: in a gap nobody starts.
  [[nodiscard]] nanoseconds start_after(nanoseconds work) const noexcept {
    constexpr nanoseconds tick{1};
    return whole_ ? work : limited_time_for(work + tick) - tick;
  }

  /// Whether it is a periodic resource; otherwise a bounded delay.
  [[nodiscard]] bool periodic() const noexcept { return periodic_; }

  /// The share of the core in the long run; of several cores, their number where they are whole.
  [[nodiscard]] double rate() const noexcept { return rate_; }

  /// sbf(t) >= rate * (t - delay), with this delay.
  [[nodiscard]] nanoseconds delay() const noexcept { return delay_; }

  /// The share that is missing: so much of every period().
  [[nodiscard]] nanoseconds missing() const noexcept { return period_ - budget_; }
  /// See missing().
  [[nodiscard]] nanoseconds period() const noexcept { return period_; }

  /// What a job that started before another one's release has computed by then, at least: a moment,
  /// but nothing if the core was withheld, or an interrupt had it.
  [[nodiscard]] nanoseconds head_start() const noexcept {
    return nanoseconds{interrupted_ ? 0 : 1};
  }

 private:
  [[nodiscard]] nanoseconds limited_time_for(nanoseconds work) const noexcept;
  [[nodiscard]] nanoseconds limited_time_in_parts(nanoseconds work,
                                                  std::int64_t windows) const noexcept;

  bool whole_ = true;
  bool interrupted_ = false;
  bool periodic_ = false;
  nanoseconds budget_{1};  // of a bounded delay: its rate as a fraction
  nanoseconds period_{1};
  nanoseconds delay_{0};
  double rate_ = 1;
  std::int64_t threads_ = 1;
};

}  // namespace takt::analysis
