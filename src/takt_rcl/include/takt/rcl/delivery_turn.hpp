// SPDX-License-Identifier: Apache-2.0
//
// DeliveryTurn: whose turn it is to hand the messages of one subscription to its callback. A mutex
// with priority inheritance that knows its holder, so that a thread can tell whether the callback
// that is under way is one that it has preempted itself or one on another core.
#pragma once

#include <atomic>
#include <cstdint>

namespace takt::detail {

class DeliveryTurn {
 public:
  // Waits until it is free. False: the calling thread itself has it.
  [[nodiscard]] bool take() noexcept;

  // The same, but false also when a thread has it that is not bound to this core: it may take as
  // long as it likes without holding this one up.
  [[nodiscard]] bool take_unless_elsewhere() noexcept;

  void give_back() noexcept;

  // For the holder: somebody waits for it.
  [[nodiscard]] bool awaited() const noexcept;

 private:
  // 0: free; else what the kernel wants of a FUTEX_LOCK_PI: the thread id of the holder and whether
  // somebody waits.
  std::atomic<std::uint32_t> word_{0};
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(word_) == 4);
};

}  // namespace takt::detail
