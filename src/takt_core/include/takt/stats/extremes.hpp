// SPDX-License-Identifier: Apache-2.0
//
// The N highest and the N lowest values with the indices of their samples, exact. An extreme value
// is where an investigation starts, so its place in the run has to be known. All memory is
// allocated at construction.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace takt::stats {

struct Extreme {
  std::uint64_t index = 0;
  std::chrono::nanoseconds value{0};

  bool operator==(const Extreme&) const = default;
};

class Extremes {
 public:
  // Keeps `capacity` values on each side.
  explicit Extremes(std::size_t capacity = 10);

  // `index` names the sample. Of equal values the one that was recorded first is kept.
  void record(std::uint64_t index, std::chrono::nanoseconds value) noexcept;

  // The most extreme first; fewer than the capacity when fewer were recorded.
  [[nodiscard]] std::span<const Extreme> highest() const noexcept {
    return {highest_.data(), size_};
  }
  [[nodiscard]] std::span<const Extreme> lowest() const noexcept { return {lowest_.data(), size_}; }

 private:
  std::vector<Extreme> highest_;
  std::vector<Extreme> lowest_;
  std::size_t size_ = 0;
};

}  // namespace takt::stats
