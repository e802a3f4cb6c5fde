// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <numeric>
#include <optional>
#include <span>

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
  for (;;) {
    if (!effort.spend(loads.size())) {
      return {};
    }
    nanoseconds sum = blocking;
    for (const Load& load : loads) {
      sum += load.noticed().open(time) * load.execution;
    }
    if (sum <= time) {
      return time;
    }
    time = sum;
  }
}

}  // namespace takt::analysis
