// SPDX-License-Identifier: Apache-2.0
//
// When something is released next that a callback's next job follows from: at the latest, after a
// time at which its core has nothing to do (docs/reference/analysis.md, eq. 22).
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

class Cause {
 public:
  // Released at offset, offset + period, and so on.
  static Cause timer(nanoseconds period, nanoseconds offset) {
    return {Kind::timer, period, offset, {}};
  }
  // No later than so much after any time.
  static Cause within(nanoseconds longest) { return {Kind::within, longest, nanoseconds{0}, {}}; }
  // The first, or the last, of several.
  static Cause first(std::vector<Cause> parts) {
    return {Kind::first, nanoseconds{0}, nanoseconds{0}, std::move(parts)};
  }
  static Cause last(std::vector<Cause> parts) {
    return {Kind::last, nanoseconds{0}, nanoseconds{0}, std::move(parts)};
  }

  // `phased`: all times count from the start, and timers keep their offsets.
  [[nodiscard]] nanoseconds after(nanoseconds time, bool phased) const {
    switch (kind_) {
      case Kind::timer:
        if (!phased) {
          return time + std::max(period_, offset_);
        }
        return time < offset_ ? offset_ : offset_ + ((time - offset_) / period_ + 1) * period_;
      case Kind::within:
        return time + period_;
      case Kind::first:
      case Kind::last:
        break;
    }
    nanoseconds result = parts_.empty() ? time : parts_.front().after(time, phased);
    for (const Cause& part : parts_) {
      const nanoseconds next = part.after(time, phased);
      result = kind_ == Kind::first ? std::min(result, next) : std::max(result, next);
    }
    return result;
  }

  // From any time on.
  [[nodiscard]] nanoseconds longest() const { return after(nanoseconds{0}, false); }

  // Adds the period and the latest offset of its timers; false: one period would be above `most`.
  bool repeat(nanoseconds& period, nanoseconds& offset, nanoseconds most) const {
    if (kind_ == Kind::timer) {
      const std::int64_t factor = period_.count() / std::gcd(period.count(), period_.count());
      if (period > most / factor) {
        return false;
      }
      period *= factor;
      offset = std::max(offset, offset_);
    }
    return std::ranges::all_of(
        parts_, [&](const Cause& part) { return part.repeat(period, offset, most); });
  }

 private:
  enum class Kind : std::uint8_t { timer, within, first, last };

  Cause(Kind kind, nanoseconds period, nanoseconds offset, std::vector<Cause> parts)
      : kind_(kind), period_(period), offset_(offset), parts_(std::move(parts)) {}

  Kind kind_;
  nanoseconds period_;
  nanoseconds offset_;
  std::vector<Cause> parts_;
};

}  // namespace takt::analysis
