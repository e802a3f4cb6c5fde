// SPDX-License-Identifier: Apache-2.0
//
// Subchains that come back to the core of a unit which leads to them: each of their jobs follows
// the unit's job of the same release (docs/reference/analysis.md, eq. 42).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "arrival_count.hpp"
#include "subchains.hpp"

namespace takt::analysis {

// A unit, from the first link of a subchain to its end at `last`.
struct SubchainUnit {
  std::size_t last = 0;
  bool by_level = true;        // false: all other work counts
  sched::Level threshold = 0;  // the last link is preempted above it
  bool delayed = false;        // what else its message releases may keep the last link from its end
};

class Returns {
 public:
  // Stands for all jobs in a busy period.
  static constexpr std::int64_t all_jobs = std::numeric_limits<std::int64_t>::max();

  // `high`: by link, whether it counts in the unit's busy period.
  Returns(const Subchains& core, const SubchainUnit& unit, const std::vector<bool>& high);

  // Of the subchain with this first link; nobody: its jobs follow none of the unit, or nothing is
  // known of those that are still there.
  [[nodiscard]] std::size_t place(std::size_t first) const { return places_[first]; }

  // When the first job of the unit may come, after the beginning of a busy period of this length:
  // at once, or so late that one more earlier release of the root counts. Not all of them if
  // `effort` is used up.
  [[nodiscard]] std::vector<nanoseconds> beginnings(nanoseconds busy, Effort& effort) const;
  void begin_at(nanoseconds begin);

  // The most jobs of a subchain from the beginning of the busy period on, before the end of job
  // number `jobs` of the unit.
  [[nodiscard]] std::int64_t most(std::size_t place, std::int64_t jobs) const noexcept {
    const Follower& follower = followers_[place];
    return jobs == all_jobs ? all_jobs : jobs - 1 + follower.early + follower.earlier;
  }

 private:
  struct Follower {
    std::size_t first = 0;
    ArrivalCount root;
    nanoseconds reach{0};      // how long before the first of the unit's jobs the root was released
    std::int64_t early = 0;    // 1 if it may come before the job that leads to it has ended
    std::int64_t earlier = 0;  // jobs of earlier releases of the root that can still be there
  };

  void add(const Subchains& core, std::size_t first, std::size_t unit_first,
           const std::vector<bool>& high);

  std::vector<Follower> followers_;
  std::vector<std::size_t> places_;  // by link, in these; or nobody
};

}  // namespace takt::analysis
