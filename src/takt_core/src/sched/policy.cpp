// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/policy.hpp"

#include "preparation.hpp"

namespace takt::sched {

Decision Policy::decide(std::span<const Job> pending, std::span<const Job> /*next*/,
                        TimePoint /*time*/) const noexcept {
  return {.job = first_job(*this, pending), .idle_until = {}};
}

TimePoint Policy::latest_start(const Job& /*job*/, std::span<const Job> /*next*/) const noexcept {
  return TimePoint::max();
}

std::optional<Level> Policy::preemption_level(const TaskParameters& parameters) const noexcept {
  if (fixed_priority()) {
    return parameters.priority;
  }
  return std::nullopt;
}

void Policy::prepare(std::vector<Task>& tasks) const {
  inherit_priorities(tasks);
  require_priorities(tasks, name());
}

}  // namespace takt::sched
