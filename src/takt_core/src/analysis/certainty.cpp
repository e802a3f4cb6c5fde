// SPDX-License-Identifier: Apache-2.0
#include "certainty.hpp"

#include <algorithm>

#include "lock_blocking.hpp"

namespace takt::analysis {

bool Certainty::is_simple(std::size_t stream) const {
  const Stream& released = model_.streams()[stream];
  return released.parent == nobody && !released.early &&
         strategy_.tasks()[released.callback].kind == sched::TaskKind::timer &&
         model_.demand(stream).lag.count() == 0;
}

bool Certainty::is_padded(std::size_t stream) const {
  return model_.demand(stream).execution >
         std::max(nanoseconds{1}, parameters(stream).expected_execution);
}

bool Certainty::is_complete(std::size_t stream) const {
  return parameters(stream).overrun == sched::Overrun::catch_up ||
         model_.demand(stream).deadline <= model_.demand(stream).releases.period;
}

bool Certainty::reaches_bound(std::size_t stream) const {
  const std::optional<nanoseconds>& response = bounds_.responses[stream].bound;
  return reaches_bound_or_misses(stream) && response &&
         (parameters(stream).overrun == sched::Overrun::catch_up ||
          *response <= model_.demand(stream).releases.period);
}

bool Certainty::reaches_bound_or_misses(std::size_t stream) const {
  const Demand& demand = model_.demand(stream);
  // Overheads are counted for the worst; so is what keeps a job from starting.
  if (model_.test() != Test::fixed_priority || application_.overheads.any() ||
      demand.ceiling == interrupt_level - 1 || !is_complete(stream)) {
    return false;
  }
  const ScenarioModel::CoreDemands& core = model_.cores()[model_.core_of(stream)];
  if (!core.supply.undisturbed()) {
    return false;  // what is declared need not happen
  }
  // While it holds a lock it may come before others that count as above.
  if (!demand.sections.empty() ||
      blocking_by_locks(core.demands, demand.level, nanoseconds{0}).count() > 0) {
    return false;
  }
  for (std::size_t i = 0; i < core.jobs; ++i) {
    const std::size_t other = core.streams[i];
    const Demand& other_demand = core.demands[i];
    if (other_demand.level < demand.level) {
      if (std::max(other_demand.ceiling, other_demand.boosted) >= demand.level) {
        return false;
      }
      continue;
    }
    // Nobody knows when it waits, nor how often.
    if (other_demand.waits || is_padded(other)) {
      return false;
    }
    const bool above = other != stream;
    if (above && other_demand.level == demand.level) {
      return false;
    }
    if (!is_simple(other) || parameters(other).offset.count() > 0) {
      return false;
    }
    // Of those above no release may be dropped, whether they keep their deadlines or not.
    const std::optional<nanoseconds>& response = bounds_.responses[other].bound;
    if (above && parameters(other).overrun != sched::Overrun::catch_up &&
        !(response && *response <= other_demand.releases.period)) {
      return false;
    }
  }
  return true;
}

bool Certainty::starves(std::size_t stream) const {
  if (model_.test() != Test::fixed_priority || application_.overheads.any() || !is_simple(stream) ||
      !is_complete(stream) || is_padded(stream)) {
    return false;
  }
  const ScenarioModel::CoreDemands& core = model_.cores()[model_.core_of(stream)];
  std::vector<Demand> counted = {model_.demand(stream)};
  for (std::size_t i = 0; i < core.jobs; ++i) {
    const std::size_t other = core.streams[i];
    const Demand& demand = core.demands[i];
    if (demand.level <= model_.demand(stream).level) {
      continue;
    }
    const std::optional<nanoseconds>& response = bounds_.responses[other].bound;
    const bool all_run = (parameters(other).overrun == sched::Overrun::catch_up && !demand.waits) ||
                         (response && *response <= demand.releases.period);
    if (!is_simple(other) || !all_run || is_padded(other)) {
      continue;
    }
    counted.push_back(demand);
  }
  return overloaded(counted);
}

bool Certainty::outlasts(std::size_t stream) const {
  const nanoseconds deadline = sched::relative_deadline(parameters(stream));
  const application::Callback& callback = application_.callbacks[model_.streams()[stream].callback];
  nanoseconds needed = parameters(stream).expected_execution + callback.suspension;
  for (const application::Segment& segment : callback.segments) {
    // Others need not be at the device.
    needed -= segment.device.empty() ? nanoseconds{0} : segment.longest - segment.occupies;
  }
  return deadline.count() > 0 && needed > deadline;
}

bool Certainty::misses(std::size_t core) const {
  const ScenarioModel::CoreDemands& demands = model_.cores()[core];
  if (application_.overheads.any() || model_.test() == Test::none) {
    return false;
  }
  const auto all = [&](auto holds) {
    for (std::size_t i = 0; i < demands.jobs; ++i) {
      if (!holds(demands.streams[i], demands.demands[i])) {
        return false;
      }
    }
    return true;
  };
  // Whoever keeps all deadlines drops nothing, so nobody can keep them all when that is too much.
  const bool countable = all([&](std::size_t stream, const Demand&) {
    return is_simple(stream) && is_complete(stream) && !is_padded(stream);
  });
  if (!countable) {
    return false;
  }
  const Supply whole = Supply::of_threads(demands.supply.threads());
  if (overloaded(std::span{demands.demands}.first(demands.jobs), whole)) {
    return true;
  }
  // Preemptive EDF of timers that start together: too much demand is a missed deadline.
  return model_.test() == Test::edf && demands.supply.undisturbed() &&
         bounds_.cores[core].schedulable == false &&
         all([&](std::size_t stream, const Demand& demand) {
           return demand.ceiling == sched::no_ceiling && demand.sections.empty() &&
                  parameters(stream).offset.count() == 0;
         });
}

}  // namespace takt::analysis
