// SPDX-License-Identifier: Apache-2.0
//
// The times at which messages arrived that their task has not seen yet: a bounded queue from any
// number of threads to one, without locks (Vyukov's bounded queue: every slot carries the turn at
// which it may be used next).
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "takt/os/clock.hpp"

namespace takt::executor {

// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): cache lines of their own for each side
class Arrivals {
 public:
  // Room for `capacity` times, rounded up to a power of two.
  explicit Arrivals(std::size_t capacity)
      : slots_(std::bit_ceil(capacity < 2 ? std::size_t{2} : capacity)), mask_(slots_.size() - 1) {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      slots_[i].turn.store(i, std::memory_order_relaxed);
    }
  }

  // From any thread. False when the queue is full.
  bool push(os::TimePoint time) noexcept {
    std::uint64_t at = head_.load(std::memory_order_relaxed);
    for (;;) {
      Slot& slot = slots_[at & mask_];
      const std::uint64_t turn = slot.turn.load(std::memory_order_acquire);
      if (turn == at) {
        if (head_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) {
          slot.time = time;
          slot.turn.store(at + 1, std::memory_order_release);
          return true;
        }
      } else if (turn < at) {
        return false;
      } else {
        at = head_.load(std::memory_order_relaxed);
      }
    }
  }

  // The consumer's: the oldest, which stays in the queue; nothing when there is none.
  [[nodiscard]] std::optional<os::TimePoint> front() const noexcept {
    const Slot& slot = slots_[tail_ & mask_];
    if (slot.turn.load(std::memory_order_acquire) != tail_ + 1) {
      return {};
    }
    return slot.time;
  }

  // The consumer's: takes the oldest out. There must be one.
  void pop() noexcept {
    slots_[tail_ & mask_].turn.store(tail_ + slots_.size(), std::memory_order_release);
    ++tail_;
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return slots_.size(); }

 private:
  struct Slot {
    std::atomic<std::uint64_t> turn{0};
    os::TimePoint time;
  };
  std::vector<Slot> slots_;
  std::uint64_t mask_;
  alignas(64) std::atomic<std::uint64_t> head_{0};
  alignas(64) std::uint64_t tail_ = 0;
};

}  // namespace takt::executor
