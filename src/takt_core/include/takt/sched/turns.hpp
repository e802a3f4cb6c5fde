// SPDX-License-Identifier: Apache-2.0
/// @file
/// A callback whose jobs may run at the same time has lanes: tasks of its own, each with at most
/// one job at a time, as a rule on different cores. Its messages go to the lanes in turn, so that
/// of n messages in a row each lane gets n / lanes at most, rounded up.
#pragma once

#include <atomic>
#include <cstdint>

namespace takt::sched {

/// Whose turn it is. Thread-safe and lock-free: messages arrive from any thread.
class Turns {
 public:
  /// @param lanes at least 1.
  explicit Turns(std::uint32_t lanes) noexcept : lanes_(lanes) {}

  /// The lane of the next message, from 0 and below the number of lanes.
  [[nodiscard]] std::uint32_t next() noexcept {
    return static_cast<std::uint32_t>(taken_.fetch_add(1, std::memory_order_relaxed) % lanes_);
  }

 private:
  const std::uint32_t lanes_;
  std::atomic<std::uint64_t> taken_{0};
};

}  // namespace takt::sched
