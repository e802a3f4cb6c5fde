// SPDX-License-Identifier: Apache-2.0
//
// Chains of a scenario as a whole: the bounds along them are the least of the sum of responses, of
// subchains as units and of whole paths, and bound the responses of their callbacks in turn.
#include <algorithm>
#include <span>
#include <utility>

#include "bounds.hpp"
#include "chain_paths.hpp"
#include "limited.hpp"
#include "subchain_returns.hpp"
#include "subchains.hpp"
#include "takt/os/saturating.hpp"

namespace takt::analysis {
namespace {

void take_less(Response& result, const Response& other) {
  if (other.bound && (!result.bound || *other.bound < *result.bound)) {
    result = other;
  }
}

}  // namespace

bool ScenarioModel::keeps_order(std::size_t at) const {
  return cores_[at].supply.threads() == 1 && never_idles(at);
}

bool ScenarioModel::never_idles(std::size_t at) const {
  const CoreDemands& core = cores_[at];
  const Test test = test_on(at);
  if (core.entangled || test == Test::schedule_graph || test == Test::none) {
    return false;
  }
  for (std::size_t i = 0; i < core.jobs; ++i) {
    const Demand& demand = core.demands[i];
    const Stream& stream = streams_[core.streams[i]];
    if (demand.waits || demand.boosted != sched::no_ceiling || stream.early || stream.circle ||
        queues_[stream.callback] == 0 || !demand.sections.empty()) {
      return false;
    }
  }
  return true;
}

nanoseconds ScenarioModel::best_case(std::size_t stream) const noexcept {
  const Cost& cost = costs_[streams_[stream].callback];
  return std::min(cost.best, demand(stream).execution) + cost.waits;
}

nanoseconds ScenarioModel::earliest_message(std::size_t stream,
                                            const Earliest& job) const noexcept {
  return costs_[streams_[stream].callback].anywhere ? job.start : earliest_end(stream, job);
}

// Whether a job that a message of the other stream's job releases starts when that one has ended,
// although the message came before.
bool ScenarioModel::starts_after_end(std::size_t stream, std::size_t before) const noexcept {
  const Demand& own = demand(stream);
  const Demand& other = demand(before);
  return core_of(stream) == core_of(before) && !own.waits && !other.waits &&
         cores_[core_of(stream)].supply.threads() == 1 &&
         own.reach() <= std::max(other.level, other.ceiling);
}

ScenarioModel::Earliest ScenarioModel::earliest(std::size_t stream,
                                                std::size_t since) const noexcept {
  const std::size_t parent = streams_[stream].parent;
  if (stream == since || parent == nobody) {
    return {};
  }
  const Earliest before = earliest(parent, since);
  const nanoseconds release = earliest_message(parent, before);
  return {.release = release,
          .start = starts_after_end(stream, parent)
                       ? std::max(release, earliest_end(parent, before))
                       : release};
}

namespace {

// The link before it on its core, over other cores or with a late notice.
std::size_t before_return(const ChainNet& net, std::size_t stream) {
  if (net.links[stream].joined) {
    return nobody;
  }
  std::size_t before = net.links[stream].before;
  while (before != nobody && net.links[before].core != net.links[stream].core) {
    before = net.links[before].before;
  }
  return before;
}

// From the message of `since` to the release of a link behind it, at least.
nanoseconds apart(const ChainNet& net, std::size_t stream, std::size_t since) {
  nanoseconds sum{0};
  for (stream = net.links[stream].before; stream != since && stream != nobody;
       stream = net.links[stream].before) {
    sum += net.links[stream].message_after;
  }
  return sum;
}

// From the release of its root to the time at which the core notices its own, at most, as assumed.
std::optional<nanoseconds> until_noticed(const ChainNet& net, std::size_t stream) {
  const std::size_t before = net.links[stream].before;
  const nanoseconds lag = net.links[stream].demand->lag;
  if (before == nobody) {
    return lag;
  }
  return net.latencies[before] ? std::optional{*net.latencies[before] + lag} : std::nullopt;
}

// The links of one core as subchains; `place`: by stream, its index there.
Subchains subchains_of(const ChainNet& net, const ChainCore& core,
                       std::vector<std::size_t>& place) {
  Subchains result{.links = {}, .interrupts = {}, .late_notice = net.release_overhead};
  for (const std::size_t stream : core.links) {
    const ChainLink& link = net.links[stream];
    place[stream] = result.links.size();
    const std::size_t visited = before_return(net, stream);
    SubchainLink entry{.demand = link.demand,
                       .first = place[stream],
                       .follows = visited == nobody ? nobody : place[visited],
                       .apart = apart(net, stream, visited),
                       .root = &net.links[link.root].demand->releases,
                       .from_root = link.offset,
                       .until_noticed = until_noticed(net, stream),
                       .until = net.latencies[stream],
                       .message_after = link.message_after,
                       .overlaps = link.overlaps};
    if (link.joined) {
      entry.before = place[link.before];
      const SubchainLink& before = result.links[entry.before];
      entry.first = before.first;
      entry.offset = link.since_first;
    }
    result.links.push_back(entry);
  }
  find_early(result);
  return result;
}

}  // namespace

// The bounds of subchains, by stream: from the release of the first link to the end, and where it
// may be less than with the longest time before that, from the release of the root.
void ScenarioModel::bound_subchains(const ChainNet& net, std::size_t at, ScenarioBounds& bounds,
                                    std::vector<Response>& latencies,
                                    std::vector<Response>& from_roots) {
  const ChainCore& core = net.cores[at];
  if (core.never_idles) {
    bound_by_busy_core(net, at, bounds, latencies);
  }
  if (!core.usable) {
    return;
  }
  const auto continues = [&](std::size_t stream) {
    return net.links[stream].joined || before_return(net, stream) != nobody;
  };
  if (std::ranges::none_of(core.links, continues)) {
    return;
  }
  std::vector<std::size_t> place(streams_.size(), nobody);
  Subchains subchains = subchains_of(net, core, place);
  for (std::size_t i = cores_[at].jobs; i < cores_[at].demands.size(); ++i) {
    subchains.interrupts.push_back(&cores_[at].demands[i]);
  }
  subchains.supply = cores_[at].supply;
  std::vector<Bound> known(core.links.size());
  bool by_deadline = core.by_deadline;
  for (std::size_t i = 0; i < core.links.size(); ++i) {
    const std::size_t stream = core.links[i];
    const std::size_t before = subchains.links[i].before;
    Effort more{.steps = std::min(order_effort_.steps, most_steps_of_one)};
    order_effort_.steps -= more.steps;
    const SubchainBounds priority = limited(chain_effort_, [&](Effort& part) {
      return subchain_by_priority(subchains, i, core.by_level, part, more);
    });
    order_effort_.steps += std::max<std::int64_t>(0, more.steps);
    Response found = priority.from_first;
    from_roots[stream] = priority.from_root;
    if (by_deadline) {
      const Response less = limited(deadline_effort_, [&](Effort& part) {
        return subchain_by_deadline(subchains, i, known, core.preemptive, part);
      });
      by_deadline = less.bound || !found.bound;  // if it is too much for one, it is for others, too
      take_less(found, less);
    }
    take_less(found, latencies[stream]);
    latencies[stream] = found;
    const Bound& response = bounds.responses[stream].bound;
    known[i] = before == nobody ? response : sum(known[before], response);
    if (found.bound && (!known[i] || *found.bound < *known[i])) {
      known[i] = found.bound;
    }
  }
}

namespace {

// Those that do not come with releases.
std::span<const Demand> declared_interrupts(const ScenarioModel::CoreDemands& core,
                                            nanoseconds release_overhead) {
  return std::span{core.demands}.subspan(release_overhead.count() > 0 ? 2 * core.jobs : core.jobs);
}

}  // namespace

ChainNet ScenarioModel::chain_net() const {
  ChainNet net{.links = {},
               .cores = {},
               .instances = std::vector<std::vector<std::size_t>>(streams_.size()),
               .release_overhead = release_overhead_,
               .latencies = latencies_};
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const std::size_t parent = streams_[i].parent;
    const bool joined =
        parent != nobody && core_of(parent) == core_of(i) && demand(i).lag.count() == 0;
    const std::size_t first = joined ? net.links[parent].first : i;
    const std::size_t root = parent == nobody ? i : net.links[parent].root;
    const Cost& cost = costs_[streams_[i].callback];
    net.links.push_back({.demand = &demand(i),
                         .before = parent,
                         .root = root,
                         .number = net.instances[root].size(),
                         .first = first,
                         .core = core_of(i),
                         .offset = offset(i),
                         .since_first = earliest(i, first).release,
                         .joined = joined,
                         .overlaps = cost.anywhere || cost.around.count() > 0,
                         .message_after = cost.anywhere ? nanoseconds{0} : best_case(i)});
    net.instances[root].push_back(i);
  }
  const Test test = test_without_idling(scenario_->policy());
  const bool by_deadline = test == Test::edf || test == Test::non_preemptive_edf;
  for (std::size_t at = 0; at < cores_.size(); ++at) {
    const CoreDemands& core = cores_[at];
    const bool groups = scenario_->policy().preemptive() &&
                        std::ranges::any_of(core.demands, [](const Demand& demand) {
                          return demand.ceiling != sched::no_ceiling;
                        });
    net.cores.push_back({.links = {core.streams.begin(),
                                   core.streams.begin() + static_cast<std::ptrdiff_t>(core.jobs)},
                         .never_idles = never_idles(at),
                         .usable = keeps_order(at),
                         .by_deadline = by_deadline && !groups,
                         .by_level = test == Test::fixed_priority,
                         .preemptive = scenario_->policy().preemptive(),
                         .supply = core.supply,
                         .interrupts = declared_interrupts(core, release_overhead_)});
  }
  return net;
}

void ScenarioModel::bound_chains(ScenarioBounds& bounds) {
  if (!has_messages_) {
    return;
  }
  const ChainNet net = chain_net();
  std::vector<Response> units(streams_.size());
  std::vector<Response> from_roots(streams_.size());
  bounds.jobs_while_busy.assign(streams_.size(), {});
  bounds.busy.assign(streams_.size(), {});
  for (std::size_t at = 0; at < cores_.size(); ++at) {
    bound_subchains(net, at, bounds, units, from_roots);
  }
  bounds.latencies.assign(streams_.size(), {});
  PathLatencies paths{net};
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    bound_stream(net, i, units, from_roots, paths, bounds);
  }
  for (std::size_t at = 0; at < cores_.size(); ++at) {
    take_over(at, bounds);
  }
}

namespace {

// If it is longer after many rounds, it mostly grows without end: on the way there it would use up
// the effort for all others, which it does not concern.
nanoseconds longest_followed(const ChainNet& net, std::size_t stream) {
  constexpr std::int64_t most_periods = 100;
  const ChainLink& link = net.links[stream];
  const nanoseconds by_period =
      os::mul_sat(net.links[link.root].demand->releases.period, most_periods);
  const nanoseconds deadline = link.demand->deadline;
  return deadline == sched::longest_time ? by_period : std::max(by_period, link.offset + deadline);
}

// Whether the chain comes back to the core of its root: path analysis knows that what it leads to
// there has ended before the next release.
bool comes_back(const ChainNet& net, std::size_t root) {
  return std::ranges::any_of(net.instances[root], [&](std::size_t i) {
    return net.links[i].core == net.links[root].core && net.links[i].first != root;
  });
}

}  // namespace

// From the root's release to the end of the stream, after those before it.
void ScenarioModel::bound_stream(const ChainNet& net, std::size_t stream,
                                 const std::vector<Response>& units,
                                 const std::vector<Response>& from_roots, PathLatencies& paths,
                                 ScenarioBounds& bounds) {
  const std::size_t parent = streams_[stream].parent;
  const auto until = [&](std::size_t link) {
    return link == nobody ? Bound{nanoseconds{0}} : bounds.latencies[link].bound;
  };
  Response& response = bounds.responses[stream];
  Response& latency = bounds.latencies[stream];
  latency.bound = sum(until(parent), response.bound);
  latency.by = parent == nobody ? By::test : bounds.latencies[parent].by;
  const std::size_t first = net.links[stream].first;
  Response unit = units[stream];
  if (unit.bound) {
    Response own = unit;
    own.bound = *unit.bound - net.links[stream].since_first;
    take_less(response, own);
    unit.bound = sum(until(streams_[first].parent), unit.bound);
    take_less(latency, unit);
  }
  take_less(latency, from_roots[stream]);
  const std::size_t root = net.links[stream].root;
  if (first != root || comes_back(net, root)) {
    take_less(latency, limited(chain_effort_, [&](Effort& part) {
                return paths.until(stream, latency.bound, part);
              }));
  }
  if (latency.bound) {
    Response own = latency;
    own.bound = *latency.bound - net.links[stream].offset;
    take_less(response, own);
  }
  if (many_rounds_ && parent != nobody && latency.bound &&
      *latency.bound > longest_followed(net, stream)) {
    latency.bound.reset();
    response.bound.reset();
  }
}

// The core's own bounds, and its verdict if every deadline is kept by these.
void ScenarioModel::take_over(std::size_t at, ScenarioBounds& bounds) const {
  const CoreDemands& demands = cores_[at];
  CoreBounds& core = bounds.cores[at];
  bool kept = !demands.entangled;
  for (std::size_t i = 0; i < demands.jobs; ++i) {
    core.responses[i] = bounds.responses[demands.streams[i]];
    const Bound& bound = core.responses[i].bound;
    kept = kept && bound && *bound <= demands.demands[i].deadline;
  }
  if (kept && core.schedulable != true) {
    core.schedulable = true;
    core.explored = false;
    core.by_chains = true;
  }
}

// Where chains as a whole suffice for the deadlines no graph is made, but it may know shorter
// responses. They hold whatever the jitters are: all of its messages come from its own core.
void ScenarioModel::shorten_by_graphs(ScenarioBounds& bounds) {
  bool shortened = false;
  for (std::size_t at = 0; at < cores_.size(); ++at) {
    const CoreDemands& core = cores_[at];
    const std::span streams = std::span{core.streams}.first(core.jobs);
    const bool released = std::ranges::any_of(
        streams, [&](std::size_t stream) { return streams_[stream].parent != nobody; });
    if (!released || bounds.graphs[at] || bounds.cores[at].schedulable != true ||
        !can_be_explored(core)) {
      continue;
    }
    const CoreGraph found = explore(core, Graphs::brief);
    for (std::size_t task = 0;
         found.graph.outcome == ScheduleGraph::Outcome::met && task < found.streams.size();
         ++task) {
      take_less(bounds.responses[found.streams[task]],
                {.bound = found.graph.responses[task], .by = By::graph});
      shortened = true;
    }
  }
  if (!shortened) {
    return;
  }
  std::vector<Response> least = bounds.latencies;
  bound_chains(bounds);
  for (std::size_t i = 0; i < least.size(); ++i) {  // the effort may be used up
    take_less(least[i], bounds.latencies[i]);
  }
  bounds.latencies = std::move(least);
}

}  // namespace takt::analysis
