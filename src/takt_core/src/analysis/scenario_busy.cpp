// SPDX-License-Identifier: Apache-2.0
//
// What the longest time that a core is busy bounds: see busy_core.hpp.
#include <algorithm>

#include "busy_core.hpp"
#include "chain_paths.hpp"
#include "limited.hpp"
#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

// The bounds of subchains by the longest time that the core is busy, which its jobs do not outlast.
// With steps of its own: it stays where the jitters are too long for all other tests.
void ScenarioModel::bound_by_busy_core(const ChainNet& net, std::size_t at, ScenarioBounds& bounds,
                                       std::vector<Response>& latencies) {
  const ChainCore& core = net.cores[at];
  if (std::ranges::none_of(core.links, [&](std::size_t stream) {
        return net.links[stream].joined || streams_[stream].join != nobody;
      })) {
    return;
  }
  keep_busy(net, at, {}, bounds, latencies);
  if (!core.by_level || strategy_->scenarios().size() > 1) {  // a switch changes levels
    return;
  }
  const auto floors = BusyCore::closed_floors(*this, net, at);
  sched::Level last = floors.empty() ? 0 : floors.begin()->first;  // the lowest takes all jobs
  for (const auto& [level, floor] : floors) {
    if (floor > last) {
      keep_busy(net, at, floor, bounds, latencies);
      last = floor;
    }
  }
}

// Those that keep the core busy from a floor on, in the place of those from a lower one on.
void ScenarioModel::keep_busy(const ChainNet& net, std::size_t at,
                              std::optional<sched::Level> floor, ScenarioBounds& bounds,
                              std::vector<Response>& latencies) {
  const BusyCore busy_core{*this, net, at, floor};
  const Response busy = limited(busy_effort_, [&](Effort& part) {
    return Response{.bound = busy_core.longest(part), .by = floor ? By::busy_level : By::busy};
  });
  if (!busy.bound) {
    return;
  }
  for (const auto& [stream, jobs] : busy_core.jobs(*busy.bound)) {
    const bool below = floor && demand(stream).level < *floor;
    if (below || (bounds.busy[stream] && *bounds.busy[stream] <= *busy.bound)) {
      continue;
    }
    std::size_t first = stream;
    while (net.links[first].joined) {
      first = net.links[first].before;
    }
    bounds.busy[stream] = busy.bound;
    bounds.jobs_while_busy[stream] = jobs;
    latencies[stream] = busy;
    latencies[stream].bound = *busy.bound + demand(first).lag;
  }
}

std::optional<std::int64_t> ScenarioModel::jobs_while_busy(const std::vector<std::size_t>& streams,
                                                           const ScenarioBounds& bounds) const {
  std::int64_t jobs = 0;
  for (const std::size_t stream : streams) {
    if (bounds.jobs_while_busy.empty() || !bounds.jobs_while_busy[stream] ||
        demand(stream).lag.count() > 0) {
      return {};
    }
    jobs += *bounds.jobs_while_busy[stream];
  }
  return jobs;
}

std::optional<nanoseconds> ScenarioModel::longest_busy(std::size_t core) const {
  const ChainNet net = chain_net();
  if (!net.cores[core].usable) {
    return {};
  }
  Effort effort{.steps = most_steps_of_one};
  return BusyCore{*this, net, core}.longest(effort);
}

}  // namespace takt::analysis
