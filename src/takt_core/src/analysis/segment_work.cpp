// SPDX-License-Identifier: Apache-2.0
#include "segment_work.hpp"

#include <algorithm>
#include <ranges>

#include "takt/os/saturating.hpp"

namespace takt::analysis {

nanoseconds overheads_of(const Demand& demand) noexcept {
  nanoseconds around = demand.execution;
  for (const ComputingSegment& segment : demand.segments) {
    around -= segment.longest;
  }
  return std::max(nanoseconds{0}, around);
}

std::optional<SegmentWork> SegmentWork::of(const Demand& demand,
                                           const std::optional<nanoseconds>& response) {
  if (demand.segments.empty() || !response) {
    return {};
  }
  SegmentWork work{demand};
  // As if it were released by its period alone, and its responses counted from there.
  const nanoseconds latest = os::add_sat(demand.releases.jitter, *response);
  if (work.period_.count() <= 0 || latest > work.period_) {
    return {};
  }
  nanoseconds rest = work.around_;
  work.next_.reserve(demand.segments.size());
  for (const ComputingSegment& segment : demand.segments | std::views::reverse) {
    rest += segment.longest + segment.shortest_wait;
    work.next_.push_back(rest - latest + work.period_);
  }
  if (rest > work.period_) {
    return {};
  }
  std::ranges::reverse(work.next_);
  return work;
}

nanoseconds SegmentWork::of_job(std::size_t first, nanoseconds length) const noexcept {
  nanoseconds work = std::min(length, around_);
  nanoseconds left = length - work;
  for (std::size_t i = first; i < segments_.size() && left.count() > 0; ++i) {
    const nanoseconds computes = std::min(left, segments_[i].longest);
    work += computes;
    left -= computes + segments_[i].shortest_wait;
  }
  return work;
}

nanoseconds SegmentWork::most(nanoseconds length) const noexcept {
  nanoseconds most{0};
  for (std::size_t first = 0; first < segments_.size(); ++first) {
    nanoseconds work = of_job(first, length);
    if (const nanoseconds rest = length - next_[first]; rest.count() > 0) {
      work += rest / period_ * of_job(0, period_) + of_job(0, rest % period_);
    }
    most = std::max(most, work);
  }
  return most;
}

}  // namespace takt::analysis
