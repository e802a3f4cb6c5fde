// SPDX-License-Identifier: Apache-2.0
/// @file
/// A bounded, wait-free queue of events from one producer thread to one consumer thread. If it is
/// full, the event is dropped and counted: a real-time thread never waits for the disk.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "takt/trace/event.hpp"

namespace takt::trace {

/// A single-producer, single-consumer ring buffer.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): cache lines of their own for each side
class Ring {
 public:
  /// Allocates room for at least `capacity` events, rounded up to a power of two, and touches all
  /// of it.
  /// @throws std::bad_alloc
  explicit Ring(std::size_t capacity) : slots_(std::bit_ceil(capacity)), mask_(slots_.size() - 1) {}

  /// Appends an event. By the producer only; wait-free.
  /// @return false if the ring was full and the event was dropped.
  bool push(const Event& event) noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head - known_tail_ > mask_) {
      known_tail_ = tail_.load(std::memory_order_acquire);
      if (head - known_tail_ > mask_) {
        lost_.store(lost_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return false;
      }
    }
    slots_[head & mask_] = event;
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

  /// Takes at most out.size() events in their order. By the consumer only; wait-free.
  /// @return how many.
  std::size_t pop(std::span<Event> out) noexcept {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint64_t available = head_.load(std::memory_order_acquire) - tail;
    const std::size_t count = available < out.size() ? available : out.size();
    for (std::size_t i = 0; i < count; ++i) {
      out[i] = slots_[(tail + i) & mask_];
    }
    tail_.store(tail + count, std::memory_order_release);
    return count;
  }

  /// Events dropped so far. From any thread.
  [[nodiscard]] std::uint64_t lost() const noexcept {
    return lost_.load(std::memory_order_relaxed);
  }

  /// The most events that can wait.
  [[nodiscard]] std::size_t capacity() const noexcept { return slots_.size(); }

 private:
  static constexpr std::size_t cache_line = 64;

  std::vector<Event> slots_;
  std::uint64_t mask_;
  alignas(cache_line) std::atomic<std::uint64_t> head_{0};  // written by the producer
  std::uint64_t known_tail_ = 0;                            // the producer's copy of tail_
  std::atomic<std::uint64_t> lost_{0};
  alignas(cache_line) std::atomic<std::uint64_t> tail_{0};  // written by the consumer
};

}  // namespace takt::trace
