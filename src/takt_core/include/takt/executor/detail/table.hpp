// SPDX-License-Identifier: Apache-2.0
//
// Entries by number, which never move: what has one may be read from any thread while more are
// added. Installed for takt_rclcpp, whose hooks look up what they are for by it; no other package
// should count on it.
#pragma once

#include <array>
#include <bit>
#include <climits>
#include <cstddef>
#include <memory>

namespace takt::executor {

template <class Entry>
class Table {
 public:
  // Of an entry that is there.
  [[nodiscard]] Entry& operator[](std::size_t number) const noexcept {
    const std::size_t part = part_of(number);
    return parts_[part][number - first_of(part)];
  }

  // At least so many entries; set-up, one thread at a time. Allocates.
  void grow_to(std::size_t entries) {
    while (first_of(used_) < entries) {
      // NOLINTNEXTLINE(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays): never moved
      parts_[used_] = std::make_unique<Entry[]>(first_of(used_ + 1) - first_of(used_));
      ++used_;
    }
  }

 private:
  static constexpr std::size_t first_part = 128;  // each one after it doubles what is there

  static std::size_t part_of(std::size_t number) noexcept {
    return static_cast<std::size_t>(std::bit_width(number / first_part));
  }
  static std::size_t first_of(std::size_t part) noexcept {
    return part == 0 ? 0 : first_part << (part - 1);
  }

  std::size_t used_ = 0;
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-c-arrays,modernize-avoid-c-arrays): never moved
  std::array<std::unique_ptr<Entry[]>, sizeof(std::size_t) * CHAR_BIT> parts_;
};

}  // namespace takt::executor
