// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

// Arrivals whose events are counted very often: the division, which takes most of the time of the
// tests, is prepared. Returns the same numbers as Arrivals.
class ArrivalCount {
 public:
  explicit ArrivalCount(const Arrivals& arrivals) noexcept
      : arrivals_(arrivals),
        per_period_(reciprocal(arrivals.period)),
        per_distance_(reciprocal(arrivals.distance)) {}

  // For a window >= 0.
  [[nodiscard]] std::int64_t closed(nanoseconds window) const noexcept {
    const std::int64_t count =
        1 + quotient((window + arrivals_.jitter).count(), arrivals_.period, per_period_);
    return count > 1 && arrivals_.distance.count() > 0
               ? std::min(count, 1 + quotient(window.count(), arrivals_.distance, per_distance_))
               : count;
  }
  [[nodiscard]] std::int64_t open(nanoseconds window) const noexcept {
    return window.count() > 0 ? closed(window - nanoseconds{1}) : 0;
  }
  [[nodiscard]] nanoseconds time(std::int64_t k) const noexcept { return arrivals_.time(k); }
  [[nodiscard]] const Arrivals& arrivals() const noexcept { return arrivals_; }

 private:
  // The next double above that of 1/T.
  static double reciprocal(nanoseconds divisor) noexcept {
    const double value = 1 / static_cast<double>(divisor.count());
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) + 1);
  }

  // The reciprocal is above 1/T by up to 2^-51 of it, with rounding, so up to 2^50 ns (13 days) the
  // product is never below the quotient, nor as far above it as the next integer is.
  static std::int64_t quotient(std::int64_t time, nanoseconds divisor, double reciprocal) noexcept {
    return time < std::int64_t{1} << 50
               ? static_cast<std::int64_t>(static_cast<double>(time) * reciprocal)
               : time / divisor.count();
  }

  Arrivals arrivals_;
  double per_period_;
  double per_distance_;
};

}  // namespace takt::analysis
