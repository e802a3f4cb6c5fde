// SPDX-License-Identifier: Apache-2.0
/// @file
/// The calendar of a core: places ordered by the time of their next release. A tournament tree, in
/// which every node holds the earlier of its two children: a change replays one path to the root,
/// without branches that depend on times. For the dozens of tasks of a core this is faster than a
/// heap.
///
/// The tasks of a core have their places in the order of their preemption levels
/// (compiled_application.hpp). So the tasks that may preempt a job have the places before it, and
/// the next release that matters is the earliest among the first places.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "takt/os/clock.hpp"

namespace takt::sched {

using os::TimePoint;

/// Times by place. Not thread-safe; only construction allocates.
class Calendar {
 public:
  /// Creates an empty calendar for places 0..size-1. Allocates.
  explicit Calendar(std::size_t size)
      : leaves_(std::bit_ceil(size < 1 ? std::size_t{1} : size)), nodes_(2 * leaves_) {
    clear(size);
  }

  /// Removes all times. From now on places are below `size`, which must not exceed the size at
  /// construction.
  void clear(std::size_t size) noexcept {
    leaves_ = std::min(std::bit_ceil(size < 1 ? std::size_t{1} : size), nodes_.size() / 2);
    for (std::size_t i = 0; i < leaves_; ++i) {
      nodes_[leaves_ + i] = {.time = TimePoint::max(), .place = static_cast<std::uint32_t>(i)};
    }
    for (std::size_t i = leaves_ - 1; i > 0; --i) {
      nodes_[i] = nodes_[2 * i];
    }
  }

  /// Takes over the content of `other`, which must not be larger. Allocates nothing.
  void copy(const Calendar& other) noexcept {
    leaves_ = other.leaves_;
    std::copy_n(other.nodes_.begin(), 2 * leaves_, nodes_.begin());
  }

  /// The earliest time; TimePoint::max() if the calendar is empty. O(1).
  [[nodiscard]] TimePoint first_time() const noexcept { return nodes_[1].time; }

  /// The place of the earliest time; the lowest one among equal times. O(1).
  [[nodiscard]] std::uint32_t first() const noexcept { return nodes_[1].place; }

  /// The time of a place; TimePoint::max() if it has none.
  [[nodiscard]] TimePoint time_of(std::uint32_t place) const noexcept {
    return nodes_[leaves_ + place].time;
  }

  /// The earliest time of the places below `end`. O(log size).
  [[nodiscard]] TimePoint first_time_below(std::size_t end) const noexcept {
    if (end >= leaves_) {
      return first_time();
    }
    TimePoint time = TimePoint::max();
    for (std::size_t right = leaves_ + end; right > 1; right /= 2) {
      if ((right & 1U) != 0) {
        time = std::min(time, nodes_[right - 1].time);
      }
    }
    return time;
  }

  /// The earliest time after `time` of the places below `end`. O(places with a time up to `time`).
  [[nodiscard]] TimePoint next_time_after(TimePoint time, std::size_t end) const noexcept {
    return later_than(time, end, 1, 0, leaves_);
  }

  /// The lowest place whose time is not after `time`; `end` if no place below `end` is due.
  [[nodiscard]] std::uint32_t lowest_due(TimePoint time, std::size_t end) const noexcept {
    if (nodes_[1].time > time) {
      return static_cast<std::uint32_t>(end);
    }
    std::size_t at = 1;
    while (at < leaves_) {
      at = 2 * at + (nodes_[2 * at].time <= time ? 0U : 1U);
    }
    return static_cast<std::uint32_t>(std::min(at - leaves_, end));
  }

  /// Sets the time of a place; TimePoint::max() removes it. O(log size).
  void set(std::uint32_t place, TimePoint time) noexcept {
    std::size_t at = leaves_ + place;
    Node winner{.time = time, .place = place};
    nodes_[at] = winner;
    while (at > 1) {
      const Node other = nodes_[at ^ 1U];
      // Of the same time, the one on the left: the lower place.
      const bool keep = winner.time < other.time || (winner.time == other.time && (at & 1U) == 0);
      winner.time = keep ? winner.time : other.time;
      winner.place = keep ? winner.place : other.place;
      at /= 2;
      if (nodes_[at].place == winner.place && nodes_[at].time == winner.time) {
        return;  // nothing changes above, which is so for most tasks of a batch
      }
      nodes_[at] = winner;
    }
  }

  /// Removes the time of a place.
  void remove(std::uint32_t place) noexcept { set(place, TimePoint::max()); }

 private:
  struct Node {
    TimePoint time;
    std::uint32_t place = 0;
  };

  // Of the part of the tree below node `at`, whose places begin at `from`.
  // NOLINTNEXTLINE(misc-no-recursion): as deep as the tree
  [[nodiscard]] TimePoint later_than(TimePoint time, std::size_t end, std::size_t at,
                                     std::size_t from, std::size_t width) const noexcept {
    if (from >= end) {
      return TimePoint::max();
    }
    if (nodes_[at].time > time && from + width <= end) {
      return nodes_[at].time;
    }
    if (width == 1) {
      return TimePoint::max();
    }
    const std::size_t half = width / 2;
    return std::min(later_than(time, end, 2 * at, from, half),
                    later_than(time, end, 2 * at + 1, from + half, half));
  }

  std::size_t leaves_;
  std::vector<Node> nodes_;  // the root is 1, the leaves are the upper half of what is used
};

}  // namespace takt::sched
