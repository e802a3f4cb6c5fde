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
  const BusyCore busy_core{*this, net, at};
  const Response busy = limited(busy_effort_, [&](Effort& part) {
    return Response{.bound = busy_core.longest(part), .by = By::busy};
  });
  if (!busy.bound) {
    return;
  }
  bounds.busy[at] = busy.bound;
  const std::vector<std::int64_t> jobs = busy_core.jobs(*busy.bound);
  for (std::size_t i = 0; i < core.links.size(); ++i) {
    const std::size_t stream = core.links[i];
    std::size_t first = stream;
    while (net.links[first].joined) {
      first = net.links[first].before;
    }
    bounds.jobs_while_busy[stream] = jobs[i];
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
