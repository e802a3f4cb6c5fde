// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "arrival_count.hpp"
#include "takt/analysis/demand.hpp"

namespace takt::analysis {

// After this time the releases of all demands repeat; none where it does not fit, or where least
// distances shape the releases.
inline std::optional<nanoseconds> recurrence(std::span<const Demand> demands) {
  std::int64_t multiple = 1;
  for (const Demand& demand : demands) {
    if (demand.releases.distance.count() > 0) {
      return {};
    }
    const std::int64_t period = demand.releases.period.count();
    const std::int64_t factor = period / std::gcd(multiple, period);
    if (multiple > std::numeric_limits<std::int64_t>::max() / 4 / factor) {
      return {};
    }
    multiple *= factor;
  }
  return nanoseconds{multiple};
}

// Of the jobs of a demand, what comes on top of its share of any time from 0 on, at least.
inline double early_work(const Demand& demand) noexcept {
  const Arrivals noticed = demand.noticed();
  return noticed.distance.count() > 0
             ? 0
             : utilization(demand) * static_cast<double>(noticed.jitter.count());
}

// No time in which `work` is done, besides demands of such a share and early work, is shorter than
// this (Sjödin & Hansson 1998; with jitter).
inline nanoseconds least_time(nanoseconds work, double share, double early) noexcept {
  const double room = 1 - share;
  const double time = (static_cast<double>(work.count()) + early) / room * (1 - 1e-9);
  if (room < 1e-6 || time > 1e18) {
    return work;
  }
  return std::max(work, nanoseconds{static_cast<std::int64_t>(time)});
}

// Whether the demands ever leave the core free once they have it, after a job that keeps it for
// `blocking`: not where they take more time than there is, and not where they take all of it and
// something comes on top.
inline bool has_busy_period(std::span<const Demand> demands, nanoseconds blocking) {
  if (overloaded(demands)) {
    return false;
  }
  const bool more = blocking.count() > 0 || std::ranges::any_of(demands, [](const Demand& demand) {
                      return demand.noticed().jitter.count() > 0 && demand.execution.count() > 0;
                    });
  const bool by_period = std::ranges::all_of(demands, [](const Demand& demand) {
    return demand.noticed().distance < demand.releases.period;
  });
  return !more || !by_period || !full(demands);
}

// How long it may take until all that was noticed before is done, after a job that keeps the core
// for `blocking`. On a full core that may never be, but everything repeats then. None when there is
// no such time, or the effort is used up.
inline std::optional<nanoseconds> busy_period(std::span<const Demand> demands, nanoseconds blocking,
                                              Effort& effort) {
  double share = 0;
  nanoseconds time = blocking;
  nanoseconds longest{0};
  for (const Demand& demand : demands) {
    share += utilization(demand);
    time += demand.execution;
    if (!demand.interrupt) {
      longest = std::max(longest, demand.deadline + demand.releases.jitter);
    }
  }
  if (share > 1 - 1e-9 && blocking.count() > 0) {
    const auto again = recurrence(demands);
    return again ? std::optional{*again + longest} : std::nullopt;
  }
  if (share > 1 - 1e-9 && !has_busy_period(demands, blocking)) {
    return {};
  }
  std::vector<ArrivalCount> noticed;
  noticed.reserve(demands.size());
  for (const Demand& demand : demands) {
    noticed.emplace_back(demand.noticed());
  }
  for (;;) {
    if (!effort.spend(demands.size())) {
      return {};
    }
    nanoseconds sum = blocking;
    for (std::size_t i = 0; i < demands.size(); ++i) {
      sum += noticed[i].open(time) * demands[i].execution;
    }
    if (sum <= time) {
      return time;
    }
    time = sum;
  }
}

}  // namespace takt::analysis
