// SPDX-License-Identifier: Apache-2.0
#include "boosting.hpp"

#include <algorithm>

namespace takt::analysis {

bool anyone_boosted(std::span<const Load> loads) noexcept {
  return std::ranges::any_of(loads, [](const Load& load) { return load.boosted > load.level; });
}

std::optional<nanoseconds> waited(const Load& load, const Response& response) noexcept {
  std::optional<nanoseconds> result;
  if (response.bound) {
    result = *response.bound - load.execution;
  }
  if (load.most_pending > 0 && load.releases.period.count() > 0) {
    const nanoseconds by_number = load.lag + load.most_pending * load.releases.period;
    result = result ? std::min(*result, by_number) : by_number;
  }
  return result;
}

std::optional<std::vector<Load>> seen_boosted(std::span<const Load> loads, std::size_t own,
                                              const Waited& waited) {
  const sched::Level level = loads[own].level;
  std::vector<Load> seen{loads.begin(), loads.end()};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    Load& load = seen[i];
    const bool from_below = load.level < level && load.boosted >= level;
    if (i == own || (!from_below && (load.level != level || load.boosted <= level))) {
      continue;
    }
    load.level = load.boosted;
    if (from_below) {
      if (!waited[i]) {
        return {};
      }
      load.lag = std::max(load.lag, *waited[i]);
    }
  }
  return seen;
}

}  // namespace takt::analysis
