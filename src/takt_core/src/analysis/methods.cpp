// SPDX-License-Identifier: Apache-2.0
#include "methods.hpp"

#include <algorithm>

#include "lock_blocking.hpp"
#include "suspension.hpp"

namespace takt::analysis {
namespace {

std::string_view fixed_priority_method(const Demand& demand, const Response& response,
                                       const ScenarioModel::CoreDemands& demands) {
  if (response.by == By::suspension) {
    return methods::suspension_as_blocking;
  }
  if (response.by == By::intervals) {
    return methods::waits_and_intervals;
  }
  if (response.by == By::segments) {
    return methods::segments;
  }
  if (depends_on_waiting(demands.demands, demand)) {
    return blocking_locks(demands.demands, demand.level).empty()
               ? methods::self_suspension
               : methods::self_suspension_and_locks;
  }
  if (demand.ceiling == interrupt_level - 1) {
    return methods::non_preemptive;
  }
  if (!blocking_locks(demands.demands, demand.level).empty()) {
    return methods::locks;
  }
  if (response.blocking.count() > 0 || demand.ceiling > demand.level) {
    return methods::fixed_priority_groups;
  }
  if (std::ranges::any_of(demands.demands, [&](const Demand& other) {
        return &other != &demand && other.level == demand.level;
      })) {
    return methods::fixed_priority_equals;
  }
  return demand.deadline > demand.releases.period ? methods::fixed_priority_busy
                                                  : methods::fixed_priority;
}

}  // namespace

std::string_view chain_method(Test test, By by) {
  const bool by_deadline = test == Test::edf || test == Test::non_preemptive_edf;
  switch (by) {
    case By::path:
      return methods::path;
    case By::path_later:
      return methods::path_later;
    case By::path_instances:
      return methods::path_instances;
    case By::path_later_instances:
      return methods::path_later_instances;
    case By::path_paced:
      return methods::path_paced;
    case By::path_messages:
      return methods::path_messages;
    case By::busy:
      return methods::busy;
    case By::busy_level:
      return methods::busy_level;
    case By::subchain_returns:
      return methods::subchain_returns;
    case By::subchain_messages_returns:
      return methods::subchain_messages_returns;
    case By::subchain_parts:
      return methods::subchain_parts;
    case By::subchain_messages:
      return by_deadline ? methods::subchain_messages_by_deadline : methods::subchain_messages;
    default:
      return by_deadline ? methods::subchain_by_deadline : methods::subchain;
  }
}

namespace {

std::string whole_core_method(Test test, const Demand& demand, const Response& response,
                              const ScenarioModel::CoreDemands& demands, const CoreBounds& core) {
  std::string method{methods::none};
  if (response.by == By::graph) {
    return std::string{methods::schedule_graph};
  }
  if (response.by != By::test && response.by != By::suspension && response.by != By::intervals &&
      response.by != By::segments) {
    return std::string{chain_method(test, response.by)};
  }
  if (core.explored && (core.schedulable == true || test == Test::schedule_graph)) {
    return std::string{methods::schedule_graph};
  }
  if (test == Test::schedule_graph) {
    return std::string{methods::unexplored};
  }
  if (test == Test::fixed_priority) {
    method = fixed_priority_method(demand, response, demands);
  } else if (test == Test::wait_set || (test == Test::threads && demands.supply.threads() == 1)) {
    method = methods::wait_set;
  } else if (test == Test::threads || test == Test::group_turns) {
    method = demand.reentrant ? methods::reentrant : methods::threads;
  } else if (test == Test::arrival_order) {
    method = methods::arrival_order;
  } else if (core.from_demand && response.bound == demand.deadline) {
    method = methods::within_demand;
  } else if (test == Test::edf) {
    method = methods::edf_response;
  } else if (test == Test::non_preemptive_edf) {
    method = methods::np_edf_response;
  }
  if (!demand.clients.empty() || demand.calls) {
    method += methods::calls;
  } else if (demand.releases.jitter.count() > 0) {
    method += methods::holistic;
  }
  if (demand.occupies) {
    method += methods::devices;
  }
  return method;
}

}  // namespace

std::string_view supply_method(const Supply& supply) {
  if (supply.undisturbed()) {
    return {};
  }
  if (supply.whole()) {
    return methods::interrupts;
  }
  return supply.periodic() ? methods::periodic_resource : methods::bounded_delay;
}

std::string method_of(Test test, const Demand& demand, const Response& response,
                      const ScenarioModel::CoreDemands& demands, const CoreBounds& core) {
  if (demands.entangled) {
    return std::string{methods::entangled};
  }
  std::string method = whole_core_method(test, demand, response, demands, core);
  if (core.without_idling && method != methods::schedule_graph) {
    method += methods::without_idling;
  }
  return method.append(response.bound ? supply_method(demands.supply) : std::string_view{});
}

std::string core_method(Test test, const ScenarioModel::CoreDemands& demands,
                        const CoreBounds& core) {
  if (core.explored) {
    return std::string{methods::schedule_graph};
  }
  if (!demands.supply.whole() && overloaded(demands.demands, demands.supply)) {
    return std::string{methods::over_supply};
  }
  if (core.by_chains) {
    return std::string{methods::chains_as_a_whole};
  }
  if (test == Test::non_preemptive_edf) {
    return std::string{methods::np_edf};
  }
  if (test != Test::edf) {
    return {};
  }
  const bool groups = std::ranges::any_of(demands.demands, [](const Demand& demand) {
    return demand.ceiling != sched::no_ceiling || !demand.sections.empty();
  });
  return std::string{groups ? methods::edf_groups : methods::edf_demand};
}

}  // namespace takt::analysis
