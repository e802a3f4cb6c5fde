// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

// Arrivals whose events are counted very often: the division is prepared, which is most of the time
// that the tests take. The same numbers as those of Arrivals.
class ArrivalCount {
 public:
  explicit ArrivalCount(const Arrivals& arrivals) noexcept
      : arrivals_(arrivals), per_ns_(one_above(1 / static_cast<double>(arrivals.period.count()))) {}

  // For a window >= 0.
  [[nodiscard]] std::int64_t closed(nanoseconds window) const noexcept {
    const std::int64_t count = periods_in((window + arrivals_.jitter).count()) + 1;
    return arrivals_.distance.count() > 0 ? std::min(count, window / arrivals_.distance + 1)
                                          : count;
  }
  [[nodiscard]] std::int64_t open(nanoseconds window) const noexcept {
    return window.count() > 0 ? closed(window - nanoseconds{1}) : 0;
  }
  [[nodiscard]] nanoseconds time(std::int64_t k) const noexcept { return arrivals_.time(k); }
  [[nodiscard]] const Arrivals& arrivals() const noexcept { return arrivals_; }

 private:
  // The next double, of one above 0.
  static double one_above(double value) noexcept {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) + 1);
  }

  // The reciprocal is above 1/T by up to 2^-51 of it, with rounding, so up to 2^50 ns (13 days) the
  // product is never below the quotient, nor as far above it as the next integer is.
  [[nodiscard]] std::int64_t periods_in(std::int64_t time) const noexcept {
    return time < std::int64_t{1} << 50
               ? static_cast<std::int64_t>(static_cast<double>(time) * per_ns_)
               : time / arrivals_.period.count();
  }

  Arrivals arrivals_;
  double per_ns_;
};

}  // namespace takt::analysis
