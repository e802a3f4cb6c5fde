// SPDX-License-Identifier: Apache-2.0
//
// Frames that wait until they are due, in memory that was taken at the start, and the chance that
// decides how long each waits and whether it is lost. As with netem, frames whose delays differ
// overtake each other.
#pragma once

#include <sys/mman.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "takt/os/clock.hpp"

namespace takt::relay {

/// What is done to the frames of one direction.
struct Impairment {
  std::chrono::nanoseconds delay{0};
  std::chrono::nanoseconds jitter{0};  ///< each delay is evenly drawn from delay ± jitter
  double loss = 0.0;                   ///< the probability that a frame is lost, 0..1
};

class Chance {
 public:
  Chance(const Impairment& impairment, std::uint64_t seed) noexcept
      : impairment_{impairment}, random_{seed} {}

  bool loses() noexcept { return share_(random_) < impairment_.loss; }

  /// Never negative.
  std::chrono::nanoseconds delay() noexcept;

 private:
  Impairment impairment_;
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> share_{0.0, 1.0};
};

struct Frame {
  os::TimePoint due;
  os::TimePoint arrived;
  std::uint64_t order = 0;  ///< of arriving: decides between frames that are due together
  std::uint32_t slot = 0;
  std::uint32_t length = 0;  ///< bytes
  std::uint8_t direction = 0;
};

/// A bounded number of frames. Pages of a slot are touched only as far as frames were long.
class DelayLine {
 public:
  static constexpr std::size_t slot_bytes = 68 * 1024;  ///< the longest frame, with room for heads

  /// Throws std::bad_alloc.
  explicit DelayLine(std::size_t slots);
  ~DelayLine();
  DelayLine(const DelayLine&) = delete;
  DelayLine& operator=(const DelayLine&) = delete;
  DelayLine(DelayLine&&) = delete;
  DelayLine& operator=(DelayLine&&) = delete;

  /// Where the next frame may be written; nothing when all slots are taken.
  [[nodiscard]] std::optional<std::uint32_t> free_slot() const noexcept;

  [[nodiscard]] std::byte* bytes(std::uint32_t slot) noexcept {
    return memory_ + slot * slot_bytes;
  }

  /// Takes the slot that free_slot() gave, until pop().
  void push(Frame frame) noexcept;

  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }

  /// The frame that is due first; not when empty().
  [[nodiscard]] const Frame& first() const noexcept { return waiting_.front(); }

  /// Gives the slot of first() back.
  void pop() noexcept;

 private:
  std::byte* memory_ = nullptr;
  std::size_t length_ = 0;
  std::vector<std::uint32_t> free_;
  std::vector<Frame> waiting_;  // a heap, the first due in front
  std::uint64_t arrived_ = 0;
};

}  // namespace takt::relay
