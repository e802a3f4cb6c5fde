// SPDX-License-Identifier: Apache-2.0
//
// The processor demand: how much work of a core is due within an interval of a given length, and
// how long a job that is due later may block it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "arrival_count.hpp"
#include "edf_blocking.hpp"
#include "takt/analysis/demand.hpp"

namespace takt::analysis {

class DemandCurve {
 public:
  DemandCurve(std::span<const Demand> demands, bool preemptive, const Supply& supply = {});

  // h(t): the most work that is noticed in an interval of length t and due at its end (Baruah,
  // Rosier & Howell 1990; with jitter Spuri 1996).
  [[nodiscard]] nanoseconds at(nanoseconds length) const noexcept;

  // The longest interval shorter than `length` at which h changes; none below.
  [[nodiscard]] std::optional<nanoseconds> change_before(nanoseconds length) const noexcept;

  // The blocking by jobs that are due later.
  [[nodiscard]] const EdfBlocking& blocking() const noexcept { return blocking_; }

  // Jobs of one demand that are due within t, of those that are noticed from time 0 on.
  [[nodiscard]] std::int64_t due(std::size_t demand, nanoseconds length) const noexcept {
    const nanoseconds window = length - entries_[demand].delay;
    return window.count() < 0 ? 0 : entries_[demand].releases.closed(window);
  }

  // The shortest time from the noticing of a job to its deadline.
  [[nodiscard]] nanoseconds delay(std::size_t demand) const noexcept {
    return entries_[demand].delay;
  }

  // No job is due within a shorter interval; interrupts have no deadlines.
  [[nodiscard]] nanoseconds first_due() const noexcept { return first_due_; }

  // No interval of this length or longer demands too much; none if the core is (almost) full.
  [[nodiscard]] std::optional<nanoseconds> horizon(const Supply& supply) const noexcept;

 private:
  struct Entry {
    ArrivalCount releases;
    nanoseconds execution;
    nanoseconds delay;
  };
  // Four entries, for lengths in which each of them has an event: computed together.
  using Lanes [[gnu::vector_size(4 * sizeof(double))]] = double;
  struct Block {
    Lanes delay{};
    Lanes per_ns{};
    Lanes execution{};
  };

  void add_blocks();
  [[nodiscard]] std::optional<nanoseconds> at_once(nanoseconds length) const noexcept;

  EdfBlocking blocking_;
  std::vector<Entry> entries_;  // by demand
  std::vector<Block> blocks_;   // the same; empty if anything besides the period matters
  nanoseconds first_due_ = never;
  nanoseconds blocks_from_{0};
  nanoseconds work_{0};  // one job of each entry
  std::vector<double> shares_;
};

}  // namespace takt::analysis
