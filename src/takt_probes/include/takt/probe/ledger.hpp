// SPDX-License-Identifier: Apache-2.0
//
// Which sequences have arrived: one bit for each that is expected, so that losses, duplicates and
// changes of order are exact however far apart they lie.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace takt::probe {

class SequenceLedger {
 public:
  /// Expects sequences 0..count-1. Larger ones are counted but not told apart.
  explicit SequenceLedger(std::uint64_t count) : arrived_(count, false) {}

  /// Enters an arrival; false when that sequence had arrived before. Does not allocate.
  bool enter(std::uint64_t sequence) noexcept {
    if (sequence < arrived_.size()) {
      if (arrived_[sequence]) {
        ++duplicated_;
        return false;
      }
      arrived_[sequence] = true;
    }
    ++received_;
    out_of_order_ += sequence < next_ ? 1 : 0;
    next_ = std::max(next_, sequence + 1);
    return true;
  }

  bool has(std::uint64_t sequence) const noexcept {
    return sequence < arrived_.size() && arrived_[sequence];
  }

  /// Distinct sequences that arrived.
  std::uint64_t received() const noexcept { return received_; }
  std::uint64_t duplicated() const noexcept { return duplicated_; }
  /// Arrivals after an arrival with a higher sequence.
  std::uint64_t out_of_order() const noexcept { return out_of_order_; }

  /// Sequences missing when `sent` were sent; without that knowledge pass 0: the gaps below the
  /// highest arrival.
  std::uint64_t lost(std::uint64_t sent = 0) const noexcept {
    return std::max(sent, next_) - received_;
  }

 private:
  std::vector<bool> arrived_;
  std::uint64_t received_ = 0;
  std::uint64_t duplicated_ = 0;
  std::uint64_t out_of_order_ = 0;
  std::uint64_t next_ = 0;  // highest arrival + 1
};

}  // namespace takt::probe
