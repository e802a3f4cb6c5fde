// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/scenario_model.hpp"

#include <algorithm>
#include <cmath>

namespace takt::analysis {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_rounds = 1000;
// A stream whose jobs pile up like this has no bound that anybody would want: its jitter grows from
// round to round.
constexpr nanoseconds long_jitter = 1s;
constexpr std::int64_t most_periods = 1000;

nanoseconds scaled(nanoseconds time, double factor) {
  if (factor == 1) {
    return time;
  }
  return nanoseconds{
      static_cast<std::int64_t>(std::ceil(static_cast<double>(time.count()) * factor))};
}

// Takes over what the graph says, and what it does not say stays as it was.
void take(const CoreGraph& core, const ScenarioModel::CoreLoads& loads, CoreBounds& bounds) {
  if (core.graph.verdict == ScheduleGraph::Verdict::unknown) {
    return;
  }
  bounds.explored = true;
  bounds.schedulable = core.graph.verdict == ScheduleGraph::Verdict::met;
  for (std::size_t i = 0; *bounds.schedulable && i < loads.jobs; ++i) {
    const auto task = std::ranges::find(core.streams, loads.streams[i]) - core.streams.begin();
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

nanoseconds ScenarioModel::execution(std::size_t callback) const noexcept {
  const Cost& cost = costs_[callback];
  // At least a moment: a job that computes nothing waits for its turn all the same.
  return std::max(nanoseconds{1}, scaled(cost.worst, cost.factor) + cost.around);
}

void ScenarioModel::apply_costs() {
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    load_of(stream).execution = execution(streams_[stream].callback);
  }
}

void ScenarioModel::scale(double factor, std::size_t callback) {
  for (std::size_t i = 0; i < costs_.size(); ++i) {
    if (callback == nobody || callback == i) {
      costs_[i].factor = factor;
    }
  }
  apply_costs();
}

void ScenarioModel::set_releases(std::size_t stream, const Arrivals& releases) {
  CoreLoads& core = cores_[places_[stream].core];
  core.loads[places_[stream].load].releases = releases;
  const std::size_t interrupt = places_[stream].load + core.jobs;
  if (interrupt < core.loads.size()) {
    core.loads[interrupt].releases = releases;
  }
}

void ScenarioModel::forget_jitters() {
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    const std::size_t parent = streams_[stream].parent;
    if (parent == nobody) {
      continue;
    }
    // Parents come before their children.
    set_releases(stream, {.period = load(parent).releases.period});
  }
}

// Takes the ends of each stream's jobs to the streams that they release. Whether anything changed.
bool ScenarioModel::propagate(const std::vector<Response>& responses) {
  bool changed = false;
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    const std::size_t parent = streams_[stream].parent;
    if (parent == nobody) {
      continue;
    }
    const Load& writer = load(parent);
    const nanoseconds best = std::min(costs_[streams_[parent].callback].best, writer.execution);
    Arrivals ends{.period = 0ns};
    const std::optional<nanoseconds> response = responses[parent].bound;
    if (response && writer.releases.period.count() > 0) {
      ends = {.period = writer.releases.period,
              .jitter = writer.releases.jitter + *response - best,
              .distance = best};  // jobs of one task follow each other
      if (ends.jitter > long_jitter && ends.jitter / most_periods > ends.period) {
        ends = {.period = 0ns};
      }
    }
    const Arrivals& releases = load(stream).releases;
    if (releases.period != ends.period || releases.jitter != ends.jitter) {
      set_releases(stream, ends);
      changed = true;
    }
  }
  return changed;
}

CoreBounds ScenarioModel::bounds_on(std::size_t core, std::optional<CoreGraph>& graph,
                                    Graphs graphs, Effort& effort) const {
  const CoreLoads& loads = cores_[core];
  if (loads.entangled) {
    return {.responses = std::vector<Response>(loads.loads.size())};
  }
  CoreBounds result = bounds(test_, loads.loads, effort);
  // Whatever has a graph keeps it: bounds that went to and fro would come to no end.
  if (!graph && (result.schedulable == true || graphs == Graphs::none || !can_be_explored(loads))) {
    return result;
  }
  if (!graph) {  // whatever has one does not change with the jitters of messages
    graph = explore(loads, graphs);
  }
  take(*graph, loads, result);
  return result;
}

ScenarioBounds ScenarioModel::solve(Effort& effort, Graphs graphs) {
  ScenarioBounds result;
  result.graphs.resize(cores_.size());
  forget_jitters();
  bool changed = true;
  for (std::size_t round = 0; changed && round < most_rounds; ++round) {
    result.cores.clear();
    result.responses.assign(streams_.size(), {});
    for (std::size_t at = 0; at < cores_.size(); ++at) {
      const CoreLoads& core = cores_[at];
      result.cores.push_back(bounds_on(at, result.graphs[at], graphs, effort));
      for (std::size_t i = 0; i < core.loads.size(); ++i) {
        if (core.streams[i] != nobody) {
          result.responses[core.streams[i]] = result.cores.back().responses[i];
        }
      }
    }
    changed = propagate(result.responses);
  }
  result.converged = !changed;
  if (!result.converged) {
    for (CoreBounds& core : result.cores) {
      core.schedulable.reset();
    }
    result.responses.assign(streams_.size(), {});
  }
  result.schedulable = all_schedulable(result.cores);
  return result;
}

std::optional<bool> ScenarioModel::accepts(Effort& effort, Graphs graphs) {
  if (has_messages_) {
    return solve(effort, graphs).schedulable;
  }
  for (const CoreLoads& core : cores_) {
    if (core.entangled) {
      return {};
    }
    std::optional<bool> accepted = analysis::accepts(test_, core.loads, effort);
    if (accepted != true && graphs != Graphs::none && can_be_explored(core)) {
      const ScheduleGraph graph = explore(core, graphs).graph;
      if (graph.verdict != ScheduleGraph::Verdict::unknown) {
        accepted = graph.verdict == ScheduleGraph::Verdict::met;
      }
    }
    if (accepted != true) {
      return accepted;
    }
  }
  return true;
}

}  // namespace takt::analysis
