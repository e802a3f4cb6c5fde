// SPDX-License-Identifier: Apache-2.0
//
// What comes next: entries by time, then by index. A tournament tree: every node holds the earlier
// of its two children, so a change replays one path to the root, without branches that depend on
// the times. For the dozens of tasks of a core that is faster than a heap.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "takt/os/clock.hpp"

namespace takt::sim {

using os::TimePoint;

class Calendar {
 public:
  // Entries have indices below `size`.
  explicit Calendar(std::size_t size)
      : leaves_(std::bit_ceil(size < 1 ? std::size_t{1} : size)), nodes_(2 * leaves_) {
    for (std::size_t i = 0; i < leaves_; ++i) {
      nodes_[leaves_ + i] = {.time = TimePoint::max(), .index = static_cast<std::uint32_t>(i)};
    }
    for (std::size_t i = leaves_ - 1; i > 0; --i) {
      nodes_[i] = earlier(nodes_[2 * i], nodes_[2 * i + 1]);
    }
  }

  // The end of time when there is no entry.
  [[nodiscard]] TimePoint first_time() const noexcept { return nodes_[1].time; }
  [[nodiscard]] std::uint32_t first() const noexcept { return nodes_[1].index; }

  // Puts an entry in, or changes its time; the end of time takes it out.
  void set(std::uint32_t index, TimePoint time) noexcept {
    std::size_t at = leaves_ + index;
    Node winner{.time = time, .index = index};
    nodes_[at] = winner;
    while (at > 1) {
      const Node other = nodes_[at ^ 1U];
      // Of the same time, the one on the left: the lower index.
      const bool keep = winner.time < other.time || (winner.time == other.time && (at & 1U) == 0);
      winner.time = keep ? winner.time : other.time;
      winner.index = keep ? winner.index : other.index;
      at /= 2;
      nodes_[at] = winner;
    }
  }
  void remove(std::uint32_t index) noexcept { set(index, TimePoint::max()); }

 private:
  struct Node {
    TimePoint time;
    std::uint32_t index = 0;
  };
  static Node earlier(const Node& left, const Node& right) noexcept {
    return right.time < left.time ? right : left;
  }

  std::size_t leaves_;
  std::vector<Node> nodes_;  // the root is 1, the leaves are the upper half
};

}  // namespace takt::sim
