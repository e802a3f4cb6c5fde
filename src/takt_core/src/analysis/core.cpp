// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/core.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "../sched/stock_executor.hpp"
#include "takt/analysis/edf.hpp"
#include "takt/analysis/fixed_priority.hpp"
#include "threads.hpp"
#include "wait_set.hpp"

namespace takt::analysis {
namespace {

bool within(const Demand& demand, const Response& response) noexcept {
  return response.bound && *response.bound <= demand.deadline;
}

CoreBounds judged(std::span<const Demand> demands, std::vector<Response> responses) {
  CoreBounds result{.responses = std::move(responses)};
  bool all = true;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    if (!demands[i].interrupt && !within(demands[i], result.responses[i])) {
      all = false;
    }
  }
  result.schedulable = all;
  return result;
}

CoreBounds edf_bounds(std::span<const Demand> demands, bool preemptive, Effort& effort,
                      const Supply& supply) {
  CoreBounds result;
  const DemandTest by_demand = edf_demand(demands, preemptive, effort, supply);
  if (by_demand.outcome != DemandTest::Outcome::unknown) {
    result.schedulable = by_demand.outcome == DemandTest::Outcome::met;
  }
  result.responses = edf_responses(demands, preemptive, effort, supply);
  if (result.schedulable == true) {
    // What the demand says holds for the response, too; the response is found job by job and may
    // be too much to compute.
    for (std::size_t i = 0; i < demands.size(); ++i) {
      std::optional<nanoseconds>& bound = result.responses[i].bound;
      if (demands[i].interrupt || (bound && *bound <= demands[i].deadline)) {
        continue;
      }
      bound = demands[i].deadline;
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
  if (name == sched::wait_set_name) {
    return Test::wait_set;
  }
  if (name == sched::group_turns_name) {
    return Test::group_turns;
  }
  if (name == sched::threads_name) {
    return Test::threads;
  }
  if (name == sched::arrival_order_name) {
    return Test::arrival_order;
  }
  return Test::none;
}

Test test_without_idling(const sched::Policy& policy) noexcept {
  const Test test = test_for(policy);
  if (test != Test::schedule_graph) {
    return test;
  }
  return policy.fixed_priority() ? Test::fixed_priority : Test::non_preemptive_edf;
}

sched::Level ceiling_for(const sched::Policy& policy, sched::Level of_group) noexcept {
  return policy.preemptive() ? std::min(of_group, interrupt_level - 1) : interrupt_level - 1;
}

CoreBounds bounds(Test test, std::span<const Demand> demands, Effort& effort,
                  const Supply& supply) {
  if (test == Test::fixed_priority) {
    return judged(demands, fixed_priority_responses(demands, effort, supply));
  }
  if (test == Test::wait_set) {
    return judged(demands, wait_set_responses(demands, effort, supply));
  }
  if (test == Test::threads && supply.threads() == 1) {
    return judged(demands, wait_set_responses(demands, effort, supply));
  }
  if (test == Test::threads || test == Test::group_turns) {
    return judged(demands, thread_responses(demands, effort, supply));
  }
  if (test == Test::arrival_order) {
    return judged(demands, arrival_order_responses(demands, effort, supply));
  }
  if (test == Test::edf || test == Test::non_preemptive_edf) {
    return edf_bounds(demands, test == Test::edf, effort, supply);
  }
  return {.responses = std::vector<Response>(demands.size())};
}

std::optional<bool> accepts(Test test, std::span<const Demand> demands, Effort& effort,
                            const Supply& supply) {
  if (test == Test::fixed_priority) {
    const bool accepted = fixed_priority_accepts(demands, effort, supply);
    return effort.steps <= 0 && !accepted ? std::nullopt : std::optional{accepted};
  }
  if (test == Test::edf || test == Test::non_preemptive_edf) {
    const DemandTest by_demand = edf_demand(demands, test == Test::edf, effort, supply);
    if (by_demand.outcome == DemandTest::Outcome::unknown) {
      return {};
    }
    return by_demand.outcome == DemandTest::Outcome::met;
  }
  return bounds(test, demands, effort, supply).schedulable;
}

}  // namespace takt::analysis
