// SPDX-License-Identifier: Apache-2.0
//
// What is written per stack to measure its timers: start one, wait for what it fires, stop it. The
// rest (start times, recording, giving up, ending) is the same for all (timer_loops.hpp).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "takt/os/clock.hpp"
#include "takt/os/not_granted.hpp"
#include "takt/probe/options.hpp"

namespace takt::probe {

/// One call of a timer's callback.
struct Expiry {
  os::TimePoint called{};  ///< read in the callback
  /// What the timer itself says of its lateness; zero for one that says nothing.
  std::chrono::nanoseconds reported{0};
  std::uint64_t passed_over = 0;  ///< expiries before this one that it left out
};

/// One timer, one-shot or cyclic as its options say, used by one thread. A timer that waits busily
/// calls give_way() between two looks.
class Timer {
 public:
  virtual ~Timer() = default;

  /// Starts it with `interval`: the timeout or the period. Returns the time from which its expiries
  /// count, read right before the stack's own call; nothing on failure, see problem().
  virtual std::optional<os::TimePoint> start(std::chrono::nanoseconds interval) noexcept = 0;

  /// Waits until the timer fires; nothing when it did not until `deadline`, a stop was requested or
  /// waiting failed. An expiry that was stopped is never returned.
  virtual std::optional<Expiry> wait(os::TimePoint deadline) noexcept = 0;

  virtual void stop() noexcept = 0;

  /// Why starting or waiting failed, when it did.
  virtual std::optional<os::NotGranted> problem() const { return {}; }
};

/// Lets threads of the same priority run, at a real-time policy: there nothing else would let them.
void give_way(const Options& options) noexcept;

/// For calls that no stop request can interrupt: how long one of them may wait at most.
inline constexpr std::chrono::milliseconds longest_wait{250};

}  // namespace takt::probe
