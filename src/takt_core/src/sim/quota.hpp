// SPDX-License-Identifier: Apache-2.0
//
// The quota of a process (cpu.max) in virtual time: who has used up its budget is throttled until
// the next period. The periods begin at fixed times, the first one with the run.
#pragma once

#include <algorithm>

#include "takt/application/core.hpp"
#include "takt/os/clock.hpp"

namespace takt::sim {

using os::TimePoint;
using std::chrono::nanoseconds;

class Quota {
 public:
  explicit Quota(const application::Supply& quota) noexcept
      : budget_(quota.budget), period_(quota.period), refill_(quota.period), left_(quota.budget) {}

  // Accounts for the time since the last call. To be called before each decision.
  void look(TimePoint now) noexcept {
    if (running_) {
      left_ = std::max(left_ - (now - since_), nanoseconds{0});
    }
    since_ = now;
    if (now >= refill_) {
      left_ = budget_;
      refill_ += ((now - refill_) / period_ + 1) * period_;
    }
  }
  // Whether its process has the core from now on.
  void set_running(bool running) noexcept { running_ = running; }

  [[nodiscard]] bool is_throttled() const noexcept { return left_.count() == 0; }
  // When it is throttled, or gets a new budget.
  [[nodiscard]] TimePoint next() const noexcept {
    return running_ ? std::min(since_ + left_, refill_) : refill_;
  }

 private:
  nanoseconds budget_;
  nanoseconds period_;
  TimePoint refill_;
  nanoseconds left_;
  bool running_ = false;
  TimePoint since_{};
};

}  // namespace takt::sim
