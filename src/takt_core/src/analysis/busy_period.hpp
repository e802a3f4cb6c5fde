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

// The time after which the releases of all demands repeat; none if it exceeds 64 bits, or if
// minimum distances shape the releases.
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

// A lower bound on the work of a demand in any interval from 0 on, beyond its share of the
// interval.
inline double early_work(const Demand& demand) noexcept {
  const Arrivals noticed = demand.noticed();
  return noticed.distance.count() > 0
             ? 0
             : utilization(demand) * static_cast<double>(noticed.jitter.count());
}

// A lower bound on the time in which `work` is done, besides demands with that share and early work
// (Sjödin & Hansson 1998; with jitter).
inline nanoseconds least_time(nanoseconds work, double share, double early,
                              double rate = 1) noexcept {
  const double room = rate - share;
  const double time = (static_cast<double>(work.count()) + early) / room * (1 - 1e-9);
  if (room < 1e-6 || time > 1e18) {
    return work;
  }
  return std::max(work, nanoseconds{static_cast<std::int64_t>(time)});
}

// Whether the demands ever leave the core free again, after a job that keeps it for `blocking`: not
// if they need more time than there is, nor if they need all of it and anything is added.
inline bool has_busy_period(std::span<const Demand> demands, nanoseconds blocking,
                            const Supply& supply = {}) {
  if (overloaded(demands, supply)) {
    return false;
  }
  const bool more = blocking.count() > 0 || !supply.whole() ||
                    std::ranges::any_of(demands, [](const Demand& demand) {
                      return demand.noticed().jitter.count() > 0 && demand.execution.count() > 0;
                    });
  const bool by_period = std::ranges::all_of(demands, [](const Demand& demand) {
    return demand.noticed().distance < demand.releases.period;
  });
  return !more || !by_period || !full(demands, supply);
}

// The longest time until all work is done that was noticed before, after a job that keeps the core
// for `blocking`. On a full core there may be no such time, but then everything repeats. None if
// there is no such time, or the effort is used up.
inline std::optional<nanoseconds> busy_period(std::span<const Demand> demands, nanoseconds blocking,
                                              Effort& effort, const Supply& supply = {}) {
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
  if (!supply.whole() && share > supply.rate() - 1e-9) {
    return {};
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
    sum = supply.time_for(sum);
    if (sum <= time) {
      return time;
    }
    time = sum;
  }
}

}  // namespace takt::analysis
