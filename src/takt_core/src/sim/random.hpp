// SPDX-License-Identifier: Apache-2.0
//
// Random numbers by position: the n-th number of a stream is a function of seed, stream and n. So
// the n-th job of a task computes for the same time whatever was scheduled before it, on every
// machine. SplitMix64 (Steele, Lea, Flood 2014) is such a function of a counter.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

namespace takt::sim {

__extension__ using UInt128 = unsigned __int128;

constexpr std::uint64_t mix(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

class RandomStream {
 public:
  RandomStream() = default;
  RandomStream(std::uint64_t seed, std::uint64_t stream) noexcept
      : start_(mix(mix(seed) + stream)) {}

  // 64 random bits.
  [[nodiscard]] std::uint64_t at(std::uint64_t n) const noexcept {
    return mix(start_ + (n + 1) * 0x9E3779B97F4A7C15U);
  }

 private:
  std::uint64_t start_ = 0;
};

// Uniform in 0..most.
inline std::chrono::nanoseconds uniform(std::uint64_t bits,
                                        std::chrono::nanoseconds most) noexcept {
  const auto values = static_cast<UInt128>(most.count()) + 1;
  return std::chrono::nanoseconds{static_cast<std::int64_t>((values * bits) >> 64U)};
}

inline std::chrono::nanoseconds scaled(std::chrono::nanoseconds time, std::chrono::nanoseconds by,
                                       std::chrono::nanoseconds from) noexcept {
  return std::chrono::nanoseconds{static_cast<std::int64_t>(static_cast<UInt128>(time.count()) *
                                                            static_cast<UInt128>(by.count()) /
                                                            static_cast<UInt128>(from.count()))};
}

// The inverse of a distribution function that is given at evenly spaced probabilities (not empty),
// linear in between. In integers, so that no machine rounds it differently.
inline std::chrono::nanoseconds quantile(std::span<const std::chrono::nanoseconds> quantiles,
                                         std::uint64_t bits) noexcept {
  const UInt128 place = static_cast<UInt128>(bits) * (quantiles.size() - 1);
  const auto below = static_cast<std::size_t>(place >> 64U);
  if (quantiles.size() == 1) {
    return quantiles.front();
  }
  const auto share = static_cast<std::uint64_t>(place);
  const auto step = static_cast<UInt128>((quantiles[below + 1] - quantiles[below]).count());
  return quantiles[below] +
         std::chrono::nanoseconds{static_cast<std::int64_t>((step * share) >> 64U)};
}

}  // namespace takt::sim
