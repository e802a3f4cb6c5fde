// SPDX-License-Identifier: Apache-2.0
//
// DeliveryTurn: whose turn it is to hand the messages of one subscription to its callback. A mutex
// with priority inheritance that knows its holder, so that a thread can tell whether the callback
// that is under way is one that it has preempted itself or one on another core.
#pragma once

#include <atomic>
#include <cstdint>
#include <takt/rcl/visibility.hpp>

namespace takt::detail {

class TAKT_RCL_PUBLIC DeliveryTurn {
 public:
  // Waits until it is free. False: the calling thread itself has it, or its holder waits for
  // something that the calling thread has. That of a thread that has ended is free.
  [[nodiscard]] bool take() noexcept;

  // The same, but false also when a thread has it that is not bound to this core: it may take as
  // long as it likes without holding this one up.
  [[nodiscard]] bool take_unless_elsewhere() noexcept;

  void give_back() noexcept;

  // For the holder: somebody waits for it.
  [[nodiscard]] bool awaited() const noexcept;

 private:
  [[nodiscard]] bool take_without_kernel() noexcept;

  // 0: free; else what the kernel wants of a FUTEX_LOCK_PI: the thread id of the holder and whether
  // somebody waits.
  std::atomic<std::uint32_t> word_{0};
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(word_) == 4);
};

// Gives a turn back at its end, also when the callback has thrown: nobody waits for ever.
class DeliveryTurnScope {
 public:
  // `mine`: what taking it has told.
  DeliveryTurnScope(DeliveryTurn& turn, bool mine) noexcept : turn_{turn}, mine_{mine} {}
  ~DeliveryTurnScope() { give_back(); }
  DeliveryTurnScope(const DeliveryTurnScope&) = delete;
  DeliveryTurnScope& operator=(const DeliveryTurnScope&) = delete;
  DeliveryTurnScope(DeliveryTurnScope&&) = delete;
  DeliveryTurnScope& operator=(DeliveryTurnScope&&) = delete;

  [[nodiscard]] bool is_mine() const noexcept { return mine_; }
  void give_back() noexcept {
    if (mine_) {
      turn_.give_back();
      mine_ = false;
    }
  }
  // It was given back, and taken anew or not.
  void taken_again(bool mine) noexcept { mine_ = mine; }

 private:
  DeliveryTurn& turn_;
  bool mine_;
};

}  // namespace takt::detail
