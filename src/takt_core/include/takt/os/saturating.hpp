// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on times that stays within their range: what lies beyond it is its end. "Never" is the
// end of time (TimePoint::max()), users give times of any length, and a sum that wraps would come
// before all others. Named after C++26's functions for integers (<numeric>).
#pragma once

#include <chrono>
#include <concepts>
#include <limits>

#include "takt/os/clock.hpp"

namespace takt::os {

template <std::signed_integral Count>
constexpr Count add_sat(Count a, Count b) noexcept {
  Count sum{};
  if (__builtin_add_overflow(a, b, &sum)) [[unlikely]] {
    return b < 0 ? std::numeric_limits<Count>::min() : std::numeric_limits<Count>::max();
  }
  return sum;
}

template <std::signed_integral Count>
constexpr Count sub_sat(Count a, Count b) noexcept {
  Count difference{};
  if (__builtin_sub_overflow(a, b, &difference)) [[unlikely]] {
    return b < 0 ? std::numeric_limits<Count>::max() : std::numeric_limits<Count>::min();
  }
  return difference;
}

template <std::signed_integral Count>
constexpr Count mul_sat(Count a, Count b) noexcept {
  Count product{};
  if (__builtin_mul_overflow(a, b, &product)) [[unlikely]] {
    return (a < 0) == (b < 0) ? std::numeric_limits<Count>::max()
                              : std::numeric_limits<Count>::min();
  }
  return product;
}

constexpr std::chrono::nanoseconds add_sat(std::chrono::nanoseconds a,
                                           std::chrono::nanoseconds b) noexcept {
  return std::chrono::nanoseconds{add_sat(a.count(), b.count())};
}

constexpr std::chrono::nanoseconds sub_sat(std::chrono::nanoseconds a,
                                           std::chrono::nanoseconds b) noexcept {
  return std::chrono::nanoseconds{sub_sat(a.count(), b.count())};
}

constexpr std::chrono::nanoseconds mul_sat(std::chrono::nanoseconds time,
                                           std::chrono::nanoseconds::rep times) noexcept {
  return std::chrono::nanoseconds{mul_sat(time.count(), times)};
}

constexpr TimePoint add_sat(TimePoint time, std::chrono::nanoseconds later) noexcept {
  return TimePoint{add_sat(time.time_since_epoch(), later)};
}

constexpr TimePoint sub_sat(TimePoint time, std::chrono::nanoseconds earlier) noexcept {
  return TimePoint{sub_sat(time.time_since_epoch(), earlier)};
}

constexpr std::chrono::nanoseconds sub_sat(TimePoint to, TimePoint from) noexcept {
  return sub_sat(to.time_since_epoch(), from.time_since_epoch());
}

}  // namespace takt::os
