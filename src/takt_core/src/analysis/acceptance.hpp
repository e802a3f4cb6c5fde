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

#include "prepared_sweep.hpp"
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
  // A time, and the declared work that must be done by then.
  struct Point {
    nanoseconds time{0};
    nanoseconds work{0};
  };
  using Points = std::vector<Point>;
  // What suffices for a demand: one point of each kind must fit, together with what blocks.
  struct Level {
    nanoseconds blocking{0};  // as declared, at most
    // The work of its level and all above in [0, time): if that fits, the busy period ends by then,
    // and so does every job in it. Empty if something else matters as well.
    Points ends = {};
    // Of a demand that keeps its core, whose busy period ends before its next job: the work before
    // its first job in [0, time]: if that fits, the job has started by then.
    bool keeps_core = false;
    Points starts = {};
  };

  static Points points_until(std::span<const Demand> demands, const Demand& own, nanoseconds last,
                             nanoseconds before);
  [[nodiscard]] Level level_of(std::span<const Demand> demands, std::size_t index) const;
  [[nodiscard]] std::vector<std::size_t> changed_of(std::span<const Demand> demands) const;
  [[nodiscard]] bool fits(std::span<const Demand> demands, std::size_t demand,
                          std::span<const std::size_t> changed) const;
  [[nodiscard]] bool is_kept(std::span<const Demand> demands, std::size_t demand,
                             std::span<const std::size_t> changed) const;
  bool keeps_deadline(std::span<const Demand> demands, std::size_t demand,
                      std::span<const std::size_t> changed, Effort& effort);
  bool all_fixed_priorities(std::span<const Demand> demands, Effort& effort);

  Test test_;
  Supply supply_;
  std::vector<Demand> declared_;
  bool separate_ = false;           // fixed priorities, which are checked one by one
  std::vector<std::size_t> order_;  // the lowest levels, which miss first, come first
  std::vector<Level> levels_;
  std::vector<std::optional<bool>> kept_;  // with the declared times; none: not checked
  std::optional<PreparedSweep> sweep_;     // once it is needed
  std::optional<std::size_t> late_;        // the demand that was refused
  std::optional<nanoseconds> overfull_;    // the interval that was refused
};

}  // namespace takt::analysis
