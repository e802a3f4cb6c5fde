// SPDX-License-Identifier: Apache-2.0
//
// The most that the jobs of one demand compute in any interval, where the lengths of their segments
// are known: between two segments a job waits at least for so long, and takes nothing from anybody
// (as the workload of multi-segment tasks, W.-H. Huang and J.-J. Chen, "Self-suspension real-time
// tasks under fixed-relative-deadline fixed-priority scheduling", DATE 2016).
//
// Of all intervals those count that begin with a segment, after which everything comes as early as
// it can: the following segments after the shortest waits, the next job a period after the release
// of this one, which ends no later than its bound, and all later jobs a period apart. An interval
// that begins within a segment is none that has more: it begins so much later, and lacks as much at
// its beginning as it may gain at its end. For the same reason no job that computes for less, or
// waits for longer, makes more of it. Overheads count at the beginning of each job, where they are
// earliest.
#pragma once

#include <optional>
#include <vector>

#include "takt/analysis/demand.hpp"

namespace takt::analysis {

// What a job computes besides its segments.
nanoseconds overheads_of(const Demand& demand) noexcept;

class SegmentWork {
 public:
  // `response`: a bound for its jobs. None if the segments are not known, or if a job may be at
  // work at the next release.
  static std::optional<SegmentWork> of(const Demand& demand,
                                       const std::optional<nanoseconds>& response);

  // In an interval of this length.
  [[nodiscard]] nanoseconds most(nanoseconds length) const noexcept;

 private:
  explicit SegmentWork(const Demand& demand)
      : segments_{demand.segments},
        period_{demand.releases.period},
        around_{overheads_of(demand)} {}

  // Of a job that goes on with this segment.
  [[nodiscard]] nanoseconds of_job(std::size_t first, nanoseconds length) const noexcept;

  std::vector<ComputingSegment> segments_;
  std::vector<nanoseconds> next_;  // by segment: the earliest next job, if an interval begins there
  nanoseconds period_;
  nanoseconds around_;  // overheads of a job
};

}  // namespace takt::analysis
