// SPDX-License-Identifier: Apache-2.0
#include "until_idle.hpp"

#include <algorithm>

#include "takt/os/saturating.hpp"
#include "thread_work.hpp"

namespace takt::analysis {

Bound longest_until_idle(std::span<const Demand> demands, const Supply& supply, Effort& effort) {
  double share = 0;
  for (const Demand& demand : demands) {
    if (demand.waits || demand.suspension.count() > 0) {
      return {};
    }
    share += utilization(demand);
  }
  if (share > supply.rate() - static_cast<double>(supply.threads() - 1) - 1e-9) {
    return {};
  }
  for (nanoseconds time{1}; time < ThreadWork::longest;) {
    if (!effort.spend(demands.size())) {
      return {};
    }
    nanoseconds work{0};
    for (const Demand& demand : demands) {
      work = os::add_sat(work, os::mul_sat(demand.execution, demand.noticed().open(time)));
    }
    work = supply.time_for(work);
    if (work <= time) {
      return time;
    }
    time = work;
  }
  return {};
}

}  // namespace takt::analysis
