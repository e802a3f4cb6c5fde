// SPDX-License-Identifier: Apache-2.0
/// @file
/// Saturating arithmetic on times: a result beyond the range becomes the end of the range. "Never"
/// is TimePoint::max(), users choose times of any length, and a sum that wraps around would come
/// before all other times. Named after C++26's functions for integers (header numeric). All
/// functions are constexpr, noexcept and branch only on overflow.
#pragma once

#include <chrono>
#include <concepts>
#include <limits>

#include "takt/os/clock.hpp"

namespace takt::os {

/// a + b, saturated to the range of the type.
template <std::signed_integral Count>
constexpr Count add_sat(Count a, Count b) noexcept {
  Count sum{};
  if (__builtin_add_overflow(a, b, &sum)) [[unlikely]] {
    return b < 0 ? std::numeric_limits<Count>::min() : std::numeric_limits<Count>::max();
  }
  return sum;
}

/// a - b, saturated to the range of the type.
template <std::signed_integral Count>
constexpr Count sub_sat(Count a, Count b) noexcept {
  Count difference{};
  if (__builtin_sub_overflow(a, b, &difference)) [[unlikely]] {
    return b < 0 ? std::numeric_limits<Count>::max() : std::numeric_limits<Count>::min();
  }
  return difference;
}

/// a * b, saturated to the range of the type.
template <std::signed_integral Count>
constexpr Count mul_sat(Count a, Count b) noexcept {
  Count product{};
  if (__builtin_mul_overflow(a, b, &product)) [[unlikely]] {
    return (a < 0) == (b < 0) ? std::numeric_limits<Count>::max()
                              : std::numeric_limits<Count>::min();
  }
  return product;
}

/// a + b in nanoseconds, saturated.
constexpr std::chrono::nanoseconds add_sat(std::chrono::nanoseconds a,
                                           std::chrono::nanoseconds b) noexcept {
  return std::chrono::nanoseconds{add_sat(a.count(), b.count())};
}

/// a - b in nanoseconds, saturated.
constexpr std::chrono::nanoseconds sub_sat(std::chrono::nanoseconds a,
                                           std::chrono::nanoseconds b) noexcept {
  return std::chrono::nanoseconds{sub_sat(a.count(), b.count())};
}

/// `time` multiplied by `times`, saturated.
constexpr std::chrono::nanoseconds mul_sat(std::chrono::nanoseconds time,
                                           std::chrono::nanoseconds::rep times) noexcept {
  return std::chrono::nanoseconds{mul_sat(time.count(), times)};
}

/// The point `later` after `time`, saturated: TimePoint::max() plus a positive duration stays
/// "never".
constexpr TimePoint add_sat(TimePoint time, std::chrono::nanoseconds later) noexcept {
  return TimePoint{add_sat(time.time_since_epoch(), later)};
}

/// The point `earlier` before `time`, saturated.
constexpr TimePoint sub_sat(TimePoint time, std::chrono::nanoseconds earlier) noexcept {
  return TimePoint{sub_sat(time.time_since_epoch(), earlier)};
}

/// The duration from `from` to `to`, saturated; negative if `to` is earlier.
constexpr std::chrono::nanoseconds sub_sat(TimePoint to, TimePoint from) noexcept {
  return sub_sat(to.time_since_epoch(), from.time_since_epoch());
}

}  // namespace takt::os
