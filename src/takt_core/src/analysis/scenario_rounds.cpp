// SPDX-License-Identifier: Apache-2.0
//
// The rounds of a scenario: the bounds of one give the jitters of the next. Mostly jitters only
// grow on the way, so a deadline that is missed in one round is missed in all that come. But under
// EDF a callback of a chain that is due later may be blocked less: jitters may then go to and fro.
#include <algorithm>
#include <utility>

#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {
namespace {

constexpr std::size_t most_rounds = 1000;
// From this one on no jitter becomes smaller again.
constexpr std::size_t first_growing_round = 50;

// Takes over what the graph says, and what it does not say stays as it was.
void take(const CoreGraph& core, const ScenarioModel::CoreDemands& demands, CoreBounds& bounds) {
  if (core.graph.outcome == ScheduleGraph::Outcome::unknown) {
    return;
  }
  bounds.explored = true;
  bounds.schedulable = core.graph.outcome == ScheduleGraph::Outcome::met;
  for (std::size_t i = 0; *bounds.schedulable && i < demands.jobs; ++i) {
    const auto task = std::ranges::find(core.streams, demands.streams[i]) - core.streams.begin();
    bounds.responses[i] = {.bound = core.graph.responses[static_cast<std::size_t>(task)]};
  }
}

// One core that misses decides; otherwise one that is not known leaves all unknown.
std::optional<bool> all_schedulable(const std::vector<CoreBounds>& cores) {
  std::optional<bool> result = true;
  for (const CoreBounds& core : cores) {
    if (core.schedulable == false) {
      return false;
    }
    if (!core.schedulable) {
      result.reset();
    }
  }
  return result;
}

}  // namespace

CoreBounds ScenarioModel::bounds_on(std::size_t core, std::optional<CoreGraph>& graph,
                                    Graphs graphs, Effort& effort) const {
  const CoreDemands& demands = cores_[core];
  if (demands.entangled) {
    return {.responses = std::vector<Response>(demands.demands.size())};
  }
  CoreBounds result = bounds(test_on(core), demands.demands, effort, demands.supply);
  if (test_ == Test::schedule_graph && !idles_[core]) {
    result.without_idling = result.schedulable == true;
    if (!graph && graphs != Graphs::none) {
      graph = explore(demands, graphs);  // it knows the offsets, too
    }
    if (graph && (!result.without_idling || graph->graph.outcome == ScheduleGraph::Outcome::met)) {
      take(*graph, demands, result);
    }
    return result;
  }
  // Whatever has a graph keeps it: bounds that went to and fro would come to no end.
  if (!graph &&
      (result.schedulable == true || graphs == Graphs::none || !can_be_explored(demands))) {
    return result;
  }
  if (!graph) {  // whatever has one does not change with the jitters of messages
    graph = explore(demands, graphs);
  }
  take(*graph, demands, result);
  return result;
}

ScenarioBounds ScenarioModel::round(std::vector<std::optional<CoreGraph>> graphs_before,
                                    Graphs graphs, Effort& effort) {
  find_best_cases();
  ScenarioBounds result;
  result.graphs = std::move(graphs_before);
  result.graphs.resize(cores_.size());
  result.responses.resize(streams_.size());
  for (std::size_t at = 0; at < cores_.size(); ++at) {
    const CoreDemands& core = cores_[at];
    result.cores.push_back(bounds_on(at, result.graphs[at], graphs, effort));
    for (std::size_t i = 0; i < core.demands.size(); ++i) {
      if (core.streams[i] != nobody) {
        result.responses[core.streams[i]] = result.cores.back().responses[i];
      }
    }
  }
  bound_chains(result);
  result.schedulable = all_schedulable(result.cores);
  return result;
}

template <class GoesOn>
ScenarioBounds ScenarioModel::rounds(Effort& effort, Graphs graphs, GoesOn goes_on,
                                     std::vector<std::optional<CoreGraph>> graphs_before) {
  ScenarioBounds result;
  result.graphs = std::move(graphs_before);
  forget_jitters();
  bool changed = true;
  for (std::size_t number = 0; changed && number < most_rounds; ++number) {
    result = round(std::move(result.graphs), graphs, effort);
    if (!goes_on(result)) {
      return result;
    }
    changed = propagate(result, number);
  }
  result.converged = !changed;
  if (!result.converged) {
    for (CoreBounds& core : result.cores) {
      core.schedulable.reset();
    }
    result.responses.assign(streams_.size(), {});
    result.latencies.assign(result.latencies.size(), {});
    result.jobs_while_busy.clear();
    result.schedulable.reset();
  }
  return result;
}

// Whether a core of which it was assumed that its policy never leaves it idle may be idle after
// all, because the bounds that hold then do not keep every deadline there.
bool ScenarioModel::admit_idling(const ScenarioBounds& bounds) {
  bool changed = false;
  for (std::size_t at = 0; test_ == Test::schedule_graph && at < cores_.size(); ++at) {
    const CoreBounds& core = bounds.cores[at];
    if (!idles_[at] && (!bounds.converged || !(core.without_idling || core.by_chains))) {
      idles_[at] = changed = true;
    }
  }
  return changed;
}

// The rounds, once more for each core that turns out to be left idle on purpose.
template <class GoesOn>
ScenarioBounds ScenarioModel::settle(Effort& effort, Graphs graphs, GoesOn goes_on) {
  idles_.assign(cores_.size(), false);
  ScenarioBounds result = rounds(effort, graphs, goes_on, {});
  while (admit_idling(result)) {
    result = rounds(effort, graphs, goes_on, std::move(result.graphs));
  }
  for (std::size_t at = 0; test_ == Test::schedule_graph && at < cores_.size(); ++at) {
    result.cores[at].without_idling = !idles_[at];
  }
  return result;
}

ScenarioBounds ScenarioModel::solve(Effort& effort, Graphs graphs) {
  ScenarioBounds result = settle(effort, graphs, [](const ScenarioBounds&) { return true; });
  if (result.converged && has_messages_ && graphs != Graphs::none) {
    shorten_by_graphs(result);
  }
  return result;
}

std::optional<bool> ScenarioModel::accepts(Effort& effort, Graphs graphs) {
  if (iterates_) {
    return settle(effort, graphs,
                  [](const ScenarioBounds& bounds) { return bounds.schedulable == true; })
        .schedulable;
  }
  const Test test = test_without_idling(scenario_->policy());
  for (const CoreDemands& core : cores_) {
    if (core.entangled) {
      return {};
    }
    std::optional<bool> accepted = analysis::accepts(test, core.demands, effort, core.supply);
    if (accepted == false && test != test_) {
      accepted.reset();  // what idling may save
    }
    if (accepted != true && graphs != Graphs::none && can_be_explored(core)) {
      const ScheduleGraph graph = explore(core, graphs).graph;
      if (graph.outcome != ScheduleGraph::Outcome::unknown) {
        accepted = graph.outcome == ScheduleGraph::Outcome::met;
      }
    }
    if (accepted != true) {
      return accepted;
    }
  }
  return true;
}

namespace {

// As dense as each of the two, at least.
Arrivals densest(const Arrivals& one, const Arrivals& other) {
  return {.period = std::min(one.period, other.period),  // 0: no bound
          .jitter = std::max(one.jitter, other.jitter),
          .distance = std::min(one.distance, other.distance)};
}

}  // namespace

// Bounds prove jitters up to those that they assume: these need not be equal.
bool ScenarioModel::propagate(const ScenarioBounds& bounds, std::size_t number) {
  if (number < first_growing_round) {
    return apply_ends(bounds);
  }
  many_rounds_ = true;
  const Jitters before = jitters();
  if (!apply_ends(bounds)) {
    return false;
  }
  Jitters next = jitters();
  bool grown = next.waits_for_job != before.waits_for_job;
  for (std::size_t i = 0; i < next.of_demands.size(); ++i) {
    const Jitters::OfDemand& old = before.of_demands[i];
    Jitters::OfDemand& now = next.of_demands[i];
    now = {.releases = densest(old.releases, now.releases),
           .lag = std::max(old.lag, now.lag),
           .suspension = std::max(old.suspension, now.suspension),
           .unanswered = old.unanswered || now.unanswered};
    grown = grown || now != old;
  }
  for (std::size_t i = 0; i < next.latencies.size(); ++i) {
    std::optional<nanoseconds>& latency = next.latencies[i];
    const std::optional<nanoseconds>& old = before.latencies[i];
    latency = latency && old ? std::optional{std::max(*latency, *old)} : std::nullopt;
    grown = grown || latency != old;
  }
  set(next);
  return grown;
}

ScenarioModel::Jitters ScenarioModel::jitters() const {
  Jitters result{.of_demands = {}, .waits_for_job = waits_for_job_, .latencies = latencies_};
  for (const CoreDemands& core : cores_) {
    for (const Demand& demand : core.demands) {
      result.of_demands.push_back({.releases = demand.releases,
                                   .lag = demand.lag,
                                   .suspension = demand.suspension,
                                   .unanswered = demand.unanswered});
    }
  }
  return result;
}

void ScenarioModel::assume(const Jitters& jitters) {
  many_rounds_ = false;
  renew_chain_effort();
  set(jitters);
}

void ScenarioModel::set(const Jitters& jitters) {
  auto next = jitters.of_demands.begin();
  for (CoreDemands& core : cores_) {
    for (Demand& demand : core.demands) {
      demand.releases = next->releases;
      demand.lag = next->lag;
      demand.suspension = next->suspension;
      demand.unanswered = next->unanswered;
      ++next;
    }
  }
  waits_for_job_ = jitters.waits_for_job;
  latencies_ = jitters.latencies;
  apply_costs();
}

void ScenarioModel::forget_latencies() {
  best_responses_.assign(streams_.size(), nanoseconds{0});
  renew_chain_effort();
  many_rounds_ = false;
  latencies_.assign(streams_.size(), nanoseconds{0});
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const std::size_t parent = streams_[i].parent;
    const nanoseconds before = parent == nobody ? nanoseconds{0} : *latencies_[parent];
    latencies_[i] = before + demand(i).lag + demand(i).execution;
  }
}

void ScenarioModel::renew_chain_effort() noexcept {
  chain_effort_ = {.steps = most_chain_steps};
  order_effort_ = {.steps = most_order_steps};
  deadline_effort_ = {.steps = most_deadline_steps};
  busy_effort_ = {.steps = most_busy_steps};
}

bool ScenarioModel::assume_latencies(const ScenarioBounds& bounds) {
  bool changed = false;
  for (std::size_t i = 0; i < bounds.latencies.size(); ++i) {
    changed = changed || latencies_[i] != bounds.latencies[i].bound;
    latencies_[i] = bounds.latencies[i].bound;
  }
  return changed;
}

}  // namespace takt::analysis
