// SPDX-License-Identifier: Apache-2.0
#include "boosting.hpp"

#include <algorithm>

namespace takt::analysis {

bool anyone_boosted(std::span<const Demand> demands) noexcept {
  return std::ranges::any_of(demands,
                             [](const Demand& demand) { return demand.boosted > demand.level; });
}

std::optional<nanoseconds> waited(const Demand& demand, const Response& response) noexcept {
  std::optional<nanoseconds> result;
  if (response.bound) {
    result = *response.bound - demand.execution;
  }
  if (demand.most_pending > 0 && demand.releases.period.count() > 0) {
    const nanoseconds by_number = demand.lag + demand.most_pending * demand.releases.period;
    result = result ? std::min(*result, by_number) : by_number;
  }
  return result;
}

std::optional<std::vector<Demand>> with_boosts(std::span<const Demand> demands, std::size_t own,
                                               const Waited& waited) {
  const sched::Level level = demands[own].level;
  std::vector<Demand> boosted_demands{demands.begin(), demands.end()};
  for (std::size_t i = 0; i < boosted_demands.size(); ++i) {
    Demand& demand = boosted_demands[i];
    const bool from_below = demand.level < level && demand.boosted >= level;
    if (i == own || (!from_below && (demand.level != level || demand.boosted <= level))) {
      continue;
    }
    demand.level = demand.boosted;
    if (from_below) {
      if (!waited[i]) {
        return {};
      }
      demand.lag = std::max(demand.lag, *waited[i]);
    }
  }
  return boosted_demands;
}

}  // namespace takt::analysis
