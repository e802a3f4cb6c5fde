// SPDX-License-Identifier: Apache-2.0
//
// The pass over all levels (level_sweep.hpp) for many variations of the execution times. Releases
// do not change with them, so they are put in order once.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

class PreparedSweep {
 public:
  // No demand waits, is boosted or takes locks. `demands` and their levels, ceilings, releases and
  // lags stay as they are.
  explicit PreparedSweep(std::span<const Demand> demands);

  // By demand, what is left at least until its deadline. Below 0 it is mostly missed, the more the
  // later, but a job that keeps its core may end earlier. None: nothing is known.
  using Left = std::vector<std::optional<nanoseconds>>;
  [[nodiscard]] Left look(std::span<const Demand> demands, const Supply& supply);

 private:
  struct Release {
    nanoseconds at;
    std::size_t place;  // in order_
  };
  // Demands of one level: [begin, end) in order_.
  struct Level {
    std::size_t begin;
    std::size_t end;
    sched::Level level;
    std::vector<Release> noticed = {};
  };

  [[nodiscard]] std::vector<nanoseconds> blocking(std::span<const Demand> demands,
                                                  const Supply& supply) const;
  bool look_until(nanoseconds time);
  bool go_on_until_done(nanoseconds work, std::size_t first, const Supply& supply);
  bool look_at(const Level& level, std::span<const Demand> demands, const Supply& supply,
               Left& left);
  void count(const Level& level);

  std::vector<std::size_t> order_;  // from the highest level downwards
  std::vector<Level> levels_;
  std::vector<Arrivals> noticed_;  // in this order, as all below
  std::vector<nanoseconds> execution_;
  std::vector<Release> releases_;  // of all, until horizon_
  nanoseconds horizon_{0};
  bool bounded_ = true;
  double rate_ = 0;  // releases in a nanosecond
  // Of one pass:
  std::size_t next_ = 0;  // in releases_
  nanoseconds time_{0};
  nanoseconds preempted_{0};  // work of those above that is noticed before it
  double share_ = 0;
  nanoseconds blocking_{0};
};

}  // namespace takt::analysis
