// SPDX-License-Identifier: Apache-2.0
/// @file
/// DeliveryTurn: the right to deliver the messages of one subscription to its callback. A mutex
/// with priority inheritance that knows its holder, so that a thread can distinguish a running
/// callback that it has preempted itself from one on another core.
#pragma once

#include <atomic>
#include <cstdint>
#include <takt/rcl/visibility.hpp>

namespace takt::detail {

/// A mutex that can be taken conditionally; its holder inherits the priority of waiting threads.
class TAKT_RCL_PUBLIC DeliveryTurn {
 public:
  /// Waits until it is free. A holder that has ended counts as free.
  /// @return false if the calling thread holds it already, or its holder waits for something that
  /// the calling thread holds.
  [[nodiscard]] bool take() noexcept;

  /// Like take(), but also returns false, without waiting, if a thread holds it that is not bound
  /// to this core.
  [[nodiscard]] bool take_unless_elsewhere() noexcept;

  /// Releases it. By its holder.
  void give_back() noexcept;

  /// Whether another thread waits for it. By its holder.
  [[nodiscard]] bool awaited() const noexcept;

 private:
  [[nodiscard]] bool take_without_kernel() noexcept;

  // 0: free; otherwise the value that FUTEX_LOCK_PI requires: the thread id of the holder, and
  // whether a thread waits.
  std::atomic<std::uint32_t> word_{0};
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(word_) == 4);
};

/// Releases a turn at its end, also after an exception of the callback, so that no thread waits
/// forever.
class DeliveryTurnScope {
 public:
  /// `mine`: the result of taking the turn.
  DeliveryTurnScope(DeliveryTurn& turn, bool mine) noexcept : turn_{turn}, mine_{mine} {}
  ~DeliveryTurnScope() { give_back(); }
  DeliveryTurnScope(const DeliveryTurnScope&) = delete;
  DeliveryTurnScope& operator=(const DeliveryTurnScope&) = delete;
  DeliveryTurnScope(DeliveryTurnScope&&) = delete;
  DeliveryTurnScope& operator=(DeliveryTurnScope&&) = delete;

  /// Whether this scope holds the turn.
  [[nodiscard]] bool is_mine() const noexcept { return mine_; }

  /// Releases the turn early.
  void give_back() noexcept {
    if (mine_) {
      turn_.give_back();
      mine_ = false;
    }
  }

  /// The turn was given back, and taking it again has returned `mine`.
  void taken_again(bool mine) noexcept { mine_ = mine; }

 private:
  DeliveryTurn& turn_;
  bool mine_;
};

}  // namespace takt::detail
