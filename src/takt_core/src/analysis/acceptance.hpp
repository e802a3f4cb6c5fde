// SPDX-License-Identifier: Apache-2.0
//
// The verdict on one core for many variations of its execution times: for sensitivity. Every answer
// is that of accepts() in core.hpp, whose tests are monotonic in the execution times: so the demand
// that caused a refusal is checked first the next time, and unaffected demands are not checked
// again.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "takt/analysis/core.hpp"

namespace takt::analysis {

class Acceptance {
 public:
  // `demands`: with the declared execution times.
  Acceptance(Test test, std::span<const Demand> demands, const Supply& supply = {});

  // A quick check whether a demand that was refused before is refused again.
  bool is_refused_again(std::span<const Demand> demands, Effort& effort);

  // The verdict; an analysis that is too expensive counts as a refusal.
  bool accepts(std::span<const Demand> demands, Effort& effort);

 private:
  // A time, and the declared work of a demand and all levels above it in [0, time): if that fits,
  // the busy period ends in time, and so does every job in it.
  struct Point {
    nanoseconds time{0};
    nanoseconds work{0};
  };
  // The points of a demand, one of which must fit: its deadline and the last releases of others
  // before it. Empty if something else matters as well.
  using Points = std::vector<Point>;

  [[nodiscard]] static Points points_of(std::span<const Demand> demands, const Demand& own);
  [[nodiscard]] bool fits(std::span<const Demand> demands, std::size_t demand,
                          std::span<const std::size_t> changed) const;
  bool keeps_deadline(std::span<const Demand> demands, std::size_t demand,
                      std::span<const std::size_t> changed, Effort& effort);
  bool all_fixed_priorities(std::span<const Demand> demands, Effort& effort);

  Test test_;
  Supply supply_;
  std::vector<Demand> declared_;
  bool separate_ = false;           // fixed priorities, which are checked one by one
  std::vector<std::size_t> order_;  // the lowest levels, which miss first, come first
  std::vector<Points> points_;
  std::vector<std::optional<bool>> kept_;  // with the declared times; none: not checked
  std::optional<std::size_t> late_;        // the demand that was refused
  std::optional<nanoseconds> overfull_;    // the interval that was refused
};

}  // namespace takt::analysis
