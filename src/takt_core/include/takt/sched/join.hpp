// SPDX-License-Identifier: Apache-2.0
/// @file
/// A join: several callbacks of a node that publish together. A job of one of them stores its
/// message, and a newer one replaces an older one. The job that completes the set, because all of
/// the others have stored one since the last publication, publishes; then nothing is stored.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "takt/os/clock.hpp"

namespace takt::sched {

/// The state of one join. Thread-safe and lock-free: its callbacks may be on several cores.
class Join {
 public:
  static constexpr std::size_t most_inputs = 64;  ///< The most callbacks of a join.

  /// @param inputs number of its callbacks: 2 to most_inputs.
  explicit Join(std::size_t inputs) noexcept
      : full_(inputs < most_inputs ? (std::uint64_t{1} << inputs) - 1 : ~std::uint64_t{0}) {}

  /// A job of a callback ends, and stores its message.
  /// @param input number of the callback, from 0 and below `inputs`.
  /// @param sampled when the data of the message was sampled.
  /// @return whether the job completes the set: it publishes, and nothing is stored any more.
  [[nodiscard]] bool store(std::size_t input, os::TimePoint sampled) noexcept {
    sampled_[input].store(sampled.time_since_epoch().count(), std::memory_order_relaxed);
    stored_.fetch_or(std::uint64_t{1} << input, std::memory_order_acq_rel);
    std::uint64_t all = full_;
    return stored_.compare_exchange_strong(all, 0, std::memory_order_acq_rel);
  }

  /// When the oldest data of the last publication was sampled; after store() has returned true.
  [[nodiscard]] os::TimePoint oldest() const noexcept {
    std::int64_t oldest = os::TimePoint::max().time_since_epoch().count();
    for (std::size_t input = 0; input < most_inputs && (full_ >> input & 1U) != 0; ++input) {
      oldest = std::min(oldest, sampled_[input].load(std::memory_order_relaxed));
    }
    return os::TimePoint{std::chrono::nanoseconds{oldest}};
  }

 private:
  std::uint64_t full_;                    // one bit for each callback
  std::atomic<std::uint64_t> stored_{0};  // those that have stored a message
  std::array<std::atomic<std::int64_t>, most_inputs> sampled_{};
};

}  // namespace takt::sched
