// SPDX-License-Identifier: Apache-2.0
//
// Where messages lay when they were published, for whoever takes them in the same process: the same
// address means that the memory was handed over, another one that there was a copy.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "takt/probe/link.hpp"

namespace takt::probe {

/// The transports that hand messages over by pointer, named after what the callback takes.
inline constexpr std::array pointers{"unique_ptr", "shared_ptr", "const_ref"};

inline bool by_pointer(const Options& options) {
  return std::ranges::find(pointers, options.transport) != pointers.end();
}

/// One thread notes, others compare. Neither waits nor allocates.
class SentAddresses {
 public:
  /// Before the message is published.
  void note(std::uint64_t sequence, const void* message) noexcept {
    Slot& slot = slots_[sequence % slots_.size()];
    slot.sequence.store(none, std::memory_order_relaxed);
    slot.message.store(message, std::memory_order_release);
    slot.sequence.store(sequence, std::memory_order_release);
  }

  /// On arrival. A message of which the note is gone, or never was, is not counted.
  void compare(std::uint64_t sequence, const void* message) noexcept {
    const Slot& slot = slots_[sequence % slots_.size()];
    if (slot.sequence.load(std::memory_order_acquire) != sequence) {
      return;
    }
    const bool same = slot.message.load(std::memory_order_acquire) == message;
    // The slot may have been taken for a later message in between, whose address this is then.
    if (slot.sequence.load(std::memory_order_relaxed) != sequence) {
      return;
    }
    compared_.fetch_add(1, std::memory_order_relaxed);
    same_.fetch_add(same ? 1 : 0, std::memory_order_relaxed);
  }

  AddressCheck result() const noexcept { return {compared_.load(), same_.load()}; }

 private:
  static constexpr std::uint64_t none = UINT64_MAX;
  static constexpr std::size_t capacity = 4096;

  struct Slot {
    std::atomic<std::uint64_t> sequence{none};
    std::atomic<const void*> message{nullptr};
  };

  std::array<Slot, capacity> slots_{};
  std::atomic<std::uint64_t> compared_{0};
  std::atomic<std::uint64_t> same_{0};
};

}  // namespace takt::probe
