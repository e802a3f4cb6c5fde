// SPDX-License-Identifier: Apache-2.0
//
// Subchains of one chain on one core: the later ones follow the earlier ones of the same release
// (docs/reference/analysis.md, eq. 42). So of a unit's chain those count less that it leads to, and
// those that lead to it.
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
};

// Notes of each link whether what it leads to may come before its job has ended.
void find_early(Subchains& core);

class Returns {
 public:
  // Stands for all jobs in a busy period.
  static constexpr std::int64_t all_jobs = std::numeric_limits<std::int64_t>::max();

  Returns(const Subchains& core, const SubchainUnit& unit);

  // Of the subchain with this first link; nobody: its jobs follow none of the unit, or nothing is
  // known of those that are still there.
  [[nodiscard]] std::size_t place(std::size_t first) const { return places_[first]; }

  // Whether jobs of the link lead to the unit: they have ended some time before its first job
  // comes.
  [[nodiscard]] bool leads(std::size_t link) const { return leads_[link]; }

  // One of these blocks for so long, if that is more than what others do. As it has ended when the
  // first job of the unit comes, this one comes the later, the longer the other one blocks; the
  // longest is the worst, for each nanosecond of it delays the end by one at least.
  void block(nanoseconds longest) noexcept { blocks_from_ = apart_ + longest; }
  [[nodiscard]] bool blocks() const noexcept { return blocks_; }

  // When the first job of the unit may come, after the beginning of a busy period of this length:
  // at once, or so late that one more job of the chain counts. Not all of them if
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

  void add(const Subchains& core, std::size_t first, std::size_t unit_first);
  void add_leading(const Subchains& core, std::size_t unit_first);

  std::vector<Follower> followers_;
  std::vector<std::size_t> places_;  // by link, in these; or nobody
  // By link: its jobs lead to those of the unit, and later ones come when these have ended.
  std::vector<bool> leads_;
  nanoseconds apart_{0};  // from their ends to the unit's first job, at least
  nanoseconds blocks_from_ =
      never;  // so late the first job of the unit comes if one of them blocks
  bool blocks_ = false;
};

}  // namespace takt::analysis
