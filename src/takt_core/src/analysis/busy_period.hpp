// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "arrival_count.hpp"
#include "takt/analysis/load.hpp"

namespace takt::analysis {

// After this time the releases of all loads repeat; none where it does not fit, or where least
// distances shape the releases.
inline std::optional<nanoseconds> recurrence(std::span<const Load> loads) {
  std::int64_t multiple = 1;
  for (const Load& load : loads) {
    if (load.releases.distance.count() > 0) {
      return {};
    }
    const std::int64_t period = load.releases.period.count();
    const std::int64_t factor = period / std::gcd(multiple, period);
    if (multiple > std::numeric_limits<std::int64_t>::max() / 4 / factor) {
      return {};
    }
    multiple *= factor;
  }
  return nanoseconds{multiple};
}

// Of the jobs of a load, what comes on top of its share of any time from 0 on, at least.
inline double early_work(const Load& load) noexcept {
  const Arrivals noticed = load.noticed();
  return noticed.distance.count() > 0
             ? 0
             : utilisation(load) * static_cast<double>(noticed.jitter.count());
}

// No time in which `work` is done, besides loads of such a share and early work, is shorter than
// this (Sjödin & Hansson 1998; with jitter).
inline nanoseconds least_time(nanoseconds work, double share, double early) noexcept {
  const double room = 1 - share;
  const double time = (static_cast<double>(work.count()) + early) / room * (1 - 1e-9);
  if (room < 1e-6 || time > 1e18) {
    return work;
  }
  return std::max(work, nanoseconds{static_cast<std::int64_t>(time)});
}

// Whether the loads ever leave the core free once they have it, after a job that keeps it for
// `blocking`: not where they take more time than there is, and not where they take all of it and
// something comes on top.
inline bool has_busy_period(std::span<const Load> loads, nanoseconds blocking) {
  if (overloaded(loads)) {
    return false;
  }
  const bool more = blocking.count() > 0 || std::ranges::any_of(loads, [](const Load& load) {
                      return load.noticed().jitter.count() > 0 && load.execution.count() > 0;
                    });
  const bool by_period = std::ranges::all_of(
      loads, [](const Load& load) { return load.noticed().distance < load.releases.period; });
  return !more || !by_period || !full(loads);
}

// How long it may take until all that was noticed before is done, after a job that keeps the core
// for `blocking`. On a full core that may never be, but everything repeats then. None when there is
// no such time, or the effort is used up.
inline std::optional<nanoseconds> busy_period(std::span<const Load> loads, nanoseconds blocking,
                                              Effort& effort) {
  double share = 0;
  nanoseconds time = blocking;
  nanoseconds longest{0};
  for (const Load& load : loads) {
    share += utilisation(load);
    time += load.execution;
    if (!load.interrupt) {
      longest = std::max(longest, load.deadline + load.releases.jitter);
    }
  }
  if (share > 1 - 1e-9 && blocking.count() > 0) {
    const auto again = recurrence(loads);
    return again ? std::optional{*again + longest} : std::nullopt;
  }
  if (share > 1 - 1e-9 && !has_busy_period(loads, blocking)) {
    return {};
  }
  std::vector<ArrivalCount> noticed;
  noticed.reserve(loads.size());
  for (const Load& load : loads) {
    noticed.emplace_back(load.noticed());
  }
  for (;;) {
    if (!effort.spend(loads.size())) {
      return {};
    }
    nanoseconds sum = blocking;
    for (std::size_t i = 0; i < loads.size(); ++i) {
      sum += noticed[i].open(time) * loads[i].execution;
    }
    if (sum <= time) {
      return time;
    }
    time = sum;
  }
}

}  // namespace takt::analysis
