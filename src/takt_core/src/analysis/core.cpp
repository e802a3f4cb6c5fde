// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/core.hpp"

#include <algorithm>
#include <string_view>

#include "takt/analysis/edf.hpp"
#include "takt/analysis/fixed_priority.hpp"

namespace takt::analysis {
namespace {

bool within(const Load& load, const Response& response) noexcept {
  return response.bound && *response.bound <= load.deadline;
}

CoreBounds fixed_priority_bounds(std::span<const Load> loads, Effort& effort) {
  CoreBounds result{.responses = fixed_priority_responses(loads, effort)};
  bool all = true;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (!loads[i].interrupt && !within(loads[i], result.responses[i])) {
      all = false;
    }
  }
  result.schedulable = all;
  return result;
}

CoreBounds edf_bounds(std::span<const Load> loads, bool preemptive, Effort& effort) {
  CoreBounds result;
  const Demand demand = edf_demand(loads, preemptive, effort);
  if (demand.verdict != Demand::Verdict::unknown) {
    result.schedulable = demand.verdict == Demand::Verdict::met;
  }
  result.responses = edf_responses(loads, preemptive, effort);
  if (result.schedulable == true) {
    // What the demand says holds for the response, too; the response is found job by job and may
    // be too much to compute.
    for (std::size_t i = 0; i < loads.size(); ++i) {
      std::optional<nanoseconds>& bound = result.responses[i].bound;
      if (loads[i].interrupt || (bound && *bound <= loads[i].deadline)) {
        continue;
      }
      bound = loads[i].deadline;
      result.from_demand = true;
    }
  }
  return result;
}

}  // namespace

Test test_for(const sched::Policy& policy) noexcept {
  const std::string_view name = policy.name();
  if (name == "fp" || name == "rm" || name == "dm" || name == "np-fp") {
    return Test::fixed_priority;
  }
  if (name == "edf") {
    return Test::edf;
  }
  if (name == "np-edf") {
    return Test::non_preemptive_edf;
  }
  if (name == "p-rm" || name == "cw-edf") {
    return Test::schedule_graph;
  }
  return Test::none;
}

sched::Level ceiling_for(const sched::Policy& policy, sched::Level of_group) noexcept {
  return policy.preemptive() ? std::min(of_group, interrupt_level - 1) : interrupt_level - 1;
}

CoreBounds bounds(Test test, std::span<const Load> loads, Effort& effort) {
  if (test == Test::fixed_priority) {
    return fixed_priority_bounds(loads, effort);
  }
  if (test == Test::edf || test == Test::non_preemptive_edf) {
    return edf_bounds(loads, test == Test::edf, effort);
  }
  return {.responses = std::vector<Response>(loads.size())};
}

std::optional<bool> accepts(Test test, std::span<const Load> loads, Effort& effort) {
  if (test == Test::fixed_priority) {
    const bool accepted = fixed_priority_accepts(loads, effort);
    return effort.steps <= 0 && !accepted ? std::nullopt : std::optional{accepted};
  }
  if (test == Test::edf || test == Test::non_preemptive_edf) {
    const Demand demand = edf_demand(loads, test == Test::edf, effort);
    if (demand.verdict == Demand::Verdict::unknown) {
      return {};
    }
    return demand.verdict == Demand::Verdict::met;
  }
  return {};
}

}  // namespace takt::analysis
