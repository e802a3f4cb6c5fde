// SPDX-License-Identifier: Apache-2.0
//
// What a core may do at each tick: whether it is supplied, and how many interrupts come. Every
// pattern occurs that its declaration allows.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/exhaustive_situation.hpp"

namespace takt::analysis {

class OracleCore {
 public:
  explicit OracleCore(const CoreLimits& limits) : limits_(limits) {}

  [[nodiscard]] bool is_limited() const {
    return limits_.period > 0 || limits_.rate_of > 0 || limits_.interrupt_period > 0;
  }

  // How a run may begin: the phases of a period, each with what may be left of the budget.
  [[nodiscard]] std::vector<CoreNow> begins() const {
    CoreNow first;
    first.tokens = static_cast<std::uint8_t>(limits_.burst);
    if (limits_.period == 0) {
      return {first};
    }
    std::vector<CoreNow> result;
    for (std::int64_t at = 0; at < limits_.period; ++at) {
      for (std::int64_t left = 0; left <= limits_.budget; ++left) {
        if (left <= limits_.period - at && limits_.budget - left <= at) {
          first.at = static_cast<std::uint8_t>(at);
          first.lacks = static_cast<std::uint8_t>(left);
          result.push_back(first);
        }
      }
    }
    return result;
  }

  // So many interrupts come at once.
  [[nodiscard]] CoreNow after_interrupts(CoreNow now, std::int64_t count) const {
    if (count > 0 && now.tokens == limits_.burst) {
      now.next_token = static_cast<std::uint8_t>(limits_.interrupt_period);
    }
    now.tokens = static_cast<std::uint8_t>(now.tokens - count);
    now.interrupt = static_cast<std::uint8_t>(now.interrupt + count * limits_.interrupt_duration);
    return now;
  }

  // Whether a tick may pass with, or without, supply; what follows then.
  [[nodiscard]] bool may(const CoreNow& now, bool supplied) const {
    if (supplied) {
      return true;  // more than declared does not matter
    }
    if (limits_.period > 0) {
      return now.lacks < limits_.period - now.at;
    }
    return limits_.rate_of > 0 && now.lacks + limits_.rate <= limits_.rate * limits_.delay;
  }
  [[nodiscard]] CoreNow after(CoreNow now, bool supplied) const {
    if (limits_.period > 0) {
      now.lacks = static_cast<std::uint8_t>(now.lacks - (supplied && now.lacks > 0 ? 1 : 0));
      if (++now.at == limits_.period) {
        now.at = 0;
        now.lacks = static_cast<std::uint8_t>(limits_.budget);
      }
    } else if (limits_.rate_of > 0) {
      // The most, over all windows that end now, that was owed and not given.
      const std::int64_t owed = now.lacks + limits_.rate - (supplied ? limits_.rate_of : 0);
      now.lacks = static_cast<std::uint8_t>(std::max<std::int64_t>(0, owed));
    }
    now.interrupt = static_cast<std::uint8_t>(now.interrupt - (supplied && now.interrupt > 0));
    if (now.next_token > 0 && --now.next_token == 0 && ++now.tokens < limits_.burst) {
      now.next_token = static_cast<std::uint8_t>(limits_.interrupt_period);
    }
    return now;
  }

 private:
  const CoreLimits& limits_;
};

}  // namespace takt::analysis
