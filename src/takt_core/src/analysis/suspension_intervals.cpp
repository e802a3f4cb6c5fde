// SPDX-License-Identifier: Apache-2.0
#include "suspension_intervals.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "lock_blocking.hpp"
#include "segment_work.hpp"
#include "suspension_choice.hpp"
#include "takt/os/saturating.hpp"

namespace takt::analysis {
namespace {

// A demand above.
struct Above {
  std::size_t demand = 0;
  Arrivals noticed;
  nanoseconds execution{0};
  std::optional<SegmentWork> segments = {};

  [[nodiscard]] nanoseconds work(nanoseconds length) const noexcept {
    const nanoseconds of_jobs = noticed.open(length) * execution;
    return segments ? std::min(of_jobs, segments->most(length)) : of_jobs;
  }

  // In an interval of length w at most (w + jitter + T - 1) / T jobs, rounded down, and the sum of
  // what is rounded down is at most the sum that is rounded down.
  [[nodiscard]] nanoseconds in_intervals(nanoseconds ready, std::int64_t intervals) const noexcept {
    const nanoseconds rounding =
        os::mul_sat(noticed.jitter + noticed.period - nanoseconds{1}, intervals);
    return os::mul_sat(execution, os::add_sat(ready, rounding) / noticed.period);
  }
};

// The least t with t >= computes + what those above take in t, `work(i, t)` of each. None: none up
// to `most`.
template <class Work>
std::optional<nanoseconds> least_length(nanoseconds computes, std::size_t others, nanoseconds most,
                                        Effort& effort, Work work) {
  for (nanoseconds length = computes; length <= most && effort.spend(others + 1);) {
    nanoseconds sum = computes;
    for (std::size_t i = 0; i < others; ++i) {
      sum = os::add_sat(sum, work(i, length));
    }
    if (sum <= length) {
      return length;
    }
    length = sum;
  }
  return {};
}

// Those above `own`. None where one of them has no bound here.
std::optional<std::vector<Above>> all_above(std::span<const Demand> demands,
                                            std::span<const Demand> delayed,
                                            std::size_t own_index) {
  const Demand& own = demands[own_index];
  std::vector<Above> result;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const Demand& other = delayed[i];
    if (i == own_index) {
      continue;
    }
    // Of its own level those that come before it count like those above.
    if (other.level < own.level && other.task != own.task) {
      // While it does not wait it may be blocked once.
      if (!own.waits &&
          (other.ceiling >= own.level || within_sections(other, own.level).count() > 0)) {
        return {};
      }
      continue;
    }
    const Arrivals noticed = other.noticed();
    constexpr nanoseconds longest = std::chrono::hours{24};
    if ((other.task == own.task && !other.interrupt) || noticed.period.count() <= 0 ||
        std::max(noticed.period, noticed.jitter) > longest) {
      return {};
    }
    result.push_back({.demand = i, .noticed = noticed, .execution = other.execution});
  }
  return result;
}

// Intervals in each of which one job computes for so long, at most.
struct Intervals {
  nanoseconds computes{0};
  std::int64_t number = 0;
};

// Empty: their number is not known. Overheads may be in any of them.
std::vector<Intervals> intervals_of(const Demand& own, By by) {
  std::vector<Intervals> result;
  // A section may put a wait off.
  if (by == By::segments && !own.segments.empty() && own.sections.empty()) {
    const nanoseconds around = overheads_of(own);
    result.reserve(own.segments.size());
    for (const ComputingSegment& segment : own.segments) {
      result.push_back({.computes = segment.longest + around, .number = 1});
    }
  } else if (!own.waits || own.suspensions > 0) {
    result.push_back({.computes = own.execution, .number = own.suspensions + 1});
  }
  return result;
}

std::optional<nanoseconds> bound_of(const Demand& own, const std::vector<Above>& others,
                                    const std::vector<Intervals>& intervals, Effort& effort) {
  const nanoseconds most = least_distance(own) - own.lag - own.suspension;
  std::vector<nanoseconds> in_each(others.size());  // one after the other
  std::int64_t number = 0;
  for (const Intervals& alike : intervals) {
    const auto longest =
        least_length(alike.computes, others.size(), most, effort,
                     [&](std::size_t i, nanoseconds length) { return others[i].work(length); });
    if (!longest) {
      return {};
    }
    for (std::size_t i = 0; i < others.size(); ++i) {
      in_each[i] = os::add_sat(in_each[i], os::mul_sat(others[i].work(*longest), alike.number));
    }
    number += alike.number;
  }
  const auto ready = least_length(
      own.execution, others.size(), most, effort, [&](std::size_t i, nanoseconds length) {
        const nanoseconds work = others[i].work(own.suspension + length);
        return intervals.empty()
                   ? work
                   : std::min({work, in_each[i], others[i].in_intervals(length, number)});
      });
  return ready ? std::optional{own.lag + own.suspension + *ready} : std::nullopt;
}

}  // namespace

Response response_by_intervals(std::span<const Demand> demands, std::span<const Demand> delayed,
                               std::size_t own_index, std::span<const Response> responses,
                               const Supply& supply, Effort& effort) {
  const Demand& own = demands[own_index];
  if (own.interrupt || own.ceiling > own.level || !supply.whole()) {
    return {};
  }
  std::optional<std::vector<Above>> others = all_above(demands, delayed, own_index);
  if (!others) {
    return {};
  }
  Response least;
  const auto take_less = [&](By by) {
    const auto bound = bound_of(own, *others, intervals_of(own, by), effort);
    if (bound && (!least.bound || *bound < *least.bound)) {
      least = {.bound = bound, .by = by};
    }
  };
  if (own.waits && own.suspensions > 0) {
    take_less(By::intervals);
  }
  bool known = !own.segments.empty() && own.sections.empty();
  for (Above& other : *others) {
    if (demands[other.demand].sections.empty()) {
      other.segments = SegmentWork::of(demands[other.demand], responses[other.demand].bound);
      known = known || other.segments;
    }
  }
  if (known) {
    take_less(By::segments);
  }
  return least;
}

}  // namespace takt::analysis
