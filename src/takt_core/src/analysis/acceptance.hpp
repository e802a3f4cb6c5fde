// SPDX-License-Identifier: Apache-2.0
//
// The verdict on one core, asked again and again while execution times change: for sensitivity.
// Every answer is that of accepts() in core.hpp, of whose tests the shorter execution times are
// never worse; so what was refused once is remembered by what refused it, and what changes nothing
// is not looked at again.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "takt/analysis/core.hpp"

namespace takt::analysis {

class Acceptance {
 public:
  // With the execution times as they are declared.
  Acceptance(Test test, std::span<const Demand> demands);

  // Whether one of those that were not guaranteed before is not now either: quickly.
  bool is_refused_again(std::span<const Demand> demands, Effort& effort);

  // The verdict; too much to compute is a refusal.
  bool accepts(std::span<const Demand> demands, Effort& effort);

 private:
  // All that the levels down to a demand do in [0, time), as they are declared; where that fits in,
  // their busy period ends in time, and every job of it.
  struct Point {
    nanoseconds time{0};
    nanoseconds work{0};
  };
  // Of a demand: its own time and the last releases of others before, of which one that fits is
  // enough; empty where something else matters, too.
  using Points = std::vector<Point>;

  [[nodiscard]] static Points points_of(std::span<const Demand> demands, const Demand& own);
  [[nodiscard]] bool fits(std::span<const Demand> demands, std::size_t demand,
                          std::span<const std::size_t> changed) const;
  bool keeps_deadline(std::span<const Demand> demands, std::size_t demand,
                      std::span<const std::size_t> changed, Effort& effort);
  bool all_fixed_priorities(std::span<const Demand> demands, Effort& effort);

  Test test_;
  std::vector<Demand> declared_;
  bool separate_ = false;           // fixed priorities that are looked at one by one
  std::vector<std::size_t> order_;  // the lowest levels, which miss first, come first
  std::vector<Points> points_;
  std::vector<std::optional<bool>> kept_;  // as they are declared; none: not looked at
  std::optional<std::size_t> late_;        // the demand that was refused
  std::optional<nanoseconds> overfull_;    // the interval
};

}  // namespace takt::analysis
