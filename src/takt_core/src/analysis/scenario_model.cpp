// SPDX-License-Identifier: Apache-2.0
#include "takt/analysis/scenario_model.hpp"

#include <algorithm>
#include <cmath>

#include "piling_up.hpp"

namespace takt::analysis {
namespace {

using namespace std::chrono_literals;

// Streams whose jobs pile up like this have no bound that anybody would want: their jitter grows
// from round to round.
constexpr nanoseconds longest_jitter = std::chrono::hours{1};
constexpr nanoseconds long_jitter = 1s;
constexpr std::int64_t most_periods_of_jitter = 1000;
// Neither has a reader that is so many periods late.
constexpr std::int64_t most_periods = 100;

nanoseconds scaled(nanoseconds time, double factor) {
  if (factor == 1) {
    return time;
  }
  return nanoseconds{
      static_cast<std::int64_t>(std::ceil(static_cast<double>(time.count()) * factor))};
}

}  // namespace

Arrivals unless_piling_up(const Arrivals& events) noexcept {
  const bool piles_up =
      events.jitter > longest_jitter ||
      (events.jitter > long_jitter && events.jitter / most_periods_of_jitter > events.period);
  return piles_up ? Arrivals{} : events;
}

nanoseconds ScenarioModel::execution(std::size_t callback) const noexcept {
  const Cost& cost = costs_[callback];
  // At least a moment: a job that computes nothing waits for its turn all the same.
  const nanoseconds noticing = waits_for_job_[callback] ? release_overhead_ : nanoseconds{0};
  return std::max(nanoseconds{1}, scaled(cost.worst, cost.factor) + cost.around +
                                      scaled(cost.waiting, cost.common) + noticing);
}

void ScenarioModel::apply_costs() {
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    apply_cost(stream);
  }
}

void ScenarioModel::apply_cost(std::size_t stream) {
  const std::size_t callback = streams_[stream].callback;
  Demand& demand = demand_of(stream);
  demand.execution = execution(callback);
  for (ComputingSegment& segment : demand.segments) {
    segment.longest = scaled(segment.declared, costs_[callback].factor);
  }
  if (!waiting_.empty()) {
    for (const Call& call : waiting_[callback].calls) {
      demand.segments[call.segment / 2].shortest_wait = shortest_response(call.server);
    }
  }
  for (Section& section : demand.sections) {
    const Cost& cost = costs_[callback];
    // Other cores wait for those of locks across cores: they are as declared while one callback
    // grows.
    const bool across = section.spins || section.first;
    // Who waits without its core keeps nobody from it.
    const nanoseconds waiting = section.first ? nanoseconds{0} : section.waiting;
    section.length = scaled(section.declared, across ? cost.common : cost.factor) +
                     scaled(waiting, cost.common) + section.around;
  }
}

void ScenarioModel::scale(double factor, std::size_t callback) {
  if (callback == nobody) {
    for (Cost& cost : costs_) {
      cost.factor = cost.common = factor;
    }
    apply_costs();
    return;
  }
  costs_[callback].factor = factor;
  if (!waiting_.empty()) {  // who waits for it depends on it, too
    apply_costs();
    return;
  }
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    if (streams_[stream].callback == callback) {
      apply_cost(stream);
    }
  }
}

void ScenarioModel::set_releases(std::size_t stream, const Arrivals& releases, nanoseconds lag) {
  CoreDemands& core = cores_[places_[stream].core];
  const auto set = [&](Demand& demand) {
    demand.releases = releases;
    demand.lag = lag;
  };
  set(core.demands[places_[stream].demand]);
  if (release_overhead_.count() > 0) {
    set(core.demands[places_[stream].demand + core.jobs]);
  }
}

void ScenarioModel::forget_jitters() {
  if (release_overhead_.count() > 0) {
    waits_for_job_.assign(costs_.size(), false);
    apply_costs();
    for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
      set_releases(stream, demand(stream).releases, demand(stream).lag);
    }
  }
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    const Stream& released = streams_[stream];
    if (released.join != nobody) {
      set_releases(stream, {.period = least_period(stream)}, jitters_[released.callback]);
      continue;
    }
    if (released.turns_of != nobody) {
      set_releases(stream,
                   in_turn({.period = demand(released.turns_of).releases.period}, released.every),
                   jitters_[released.callback]);
      continue;
    }
    const std::size_t cause = released.asked_by != nobody ? released.asked_by : released.cause();
    if (cause != nobody && !released.circle) {
      // Causes come before what they cause.
      set_releases(stream, {.period = demand(cause).releases.period},
                   jitters_[released.callback] + released.lead);
    }
  }
  forget_responses();
  count_shifts();
  forget_latencies();
}

Arrivals ScenarioModel::ends(std::size_t stream, const ScenarioBounds& bounds) const noexcept {
  const bool whole = !bounds.latencies.empty();  // where the chain begins is known
  const Arrivals& releases = demand(whole ? root_of(stream) : stream).releases;
  const std::optional<nanoseconds>& end =
      whole ? bounds.latencies[stream].bound : bounds.responses[stream].bound;
  if (!end || releases.period.count() <= 0) {
    return {};
  }
  const nanoseconds first =
      earliest_message(stream, whole ? earliest(stream, root_of(stream)) : Earliest{});
  const nanoseconds varies = std::max(nanoseconds{0}, *end - first);
  // Jobs of one task follow each other, but for reentrant ones.
  const nanoseconds own = earliest_message(stream, {});
  nanoseconds distance =
      std::max(demand(stream).reentrant ? nanoseconds{0} : own, releases.distance - varies);
  if (const std::optional<nanoseconds>& response = bounds.responses[stream].bound) {
    // As far apart as their releases, but for how much they differ from there.
    distance = std::max(distance, demand(stream).releases.distance - (*response - own));
  }
  const Arrivals ends{
      .period = releases.period, .jitter = releases.jitter + varies, .distance = distance};
  return unless_piling_up(ends);
}

// Each job of the reader asks for data of the next one: when it ends, or when the data is wanted if
// that is later. Whether anything changed.
bool ScenarioModel::propagate_requests(std::size_t stream, const std::vector<Response>& responses) {
  const std::size_t asking = streams_[stream].asked_by;
  const std::size_t reader = streams_[asking].callback;
  std::optional<nanoseconds> response = nanoseconds{0};
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (streams_[i].callback == reader) {
      const std::optional<nanoseconds>& bound = responses[i].bound;
      response = response && bound ? std::optional{std::max(*response, *bound)} : std::nullopt;
    }
  }
  // A message is known when it has come, a timer's next release when the job before has ended.
  const nanoseconds period =
      strategy_->tasks()[reader].kind == sched::TaskKind::timer
          ? scenario_->parameters(static_cast<sched::TaskIndex>(reader)).period
          : nanoseconds{0};
  Arrivals requests = demand(asking).releases;
  nanoseconds lag = jitters_[streams_[stream].callback] + streams_[stream].lead;
  if (response && *response / most_periods <= demand(asking).releases.period) {
    lag += std::max(nanoseconds{0}, *response - period);
  } else {
    requests = {};
  }
  const Demand& before = demand(stream);
  if (before.releases == requests && before.lag == lag) {
    return false;
  }
  set_releases(stream, requests, lag);
  return true;
}

// The period of a source counts from its early release, which may have been due before it was asked
// for, at the start by the whole lead: its next releases, a period apart from there, may then be
// due before that, too, and come all at once. Whether anything changed.
bool ScenarioModel::count_shifts() {
  bool changed = false;
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    const Stream& regular = streams_[stream];
    if (regular.parent != nobody || regular.early) {
      continue;
    }
    const nanoseconds jitter = jitters_[regular.callback];
    nanoseconds shift{0};
    for (std::size_t other = 0; other < streams_.size(); ++other) {
      if (streams_[other].early && streams_[other].callback == regular.callback) {
        shift = std::max(shift, demand(other).lag - jitter - demand(stream).releases.period);
      }
    }
    if (demand(stream).lag != jitter + shift) {
      set_releases(stream, demand(stream).releases, jitter + shift);
      changed = true;
    }
  }
  return changed;
}

// A release that waits for the job before is noticed when that ends, which takes time from whoever
// is next, as if that job took longer. Whether anything changed.
bool ScenarioModel::count_late_notices(const std::vector<Response>& responses) {
  if (release_overhead_.count() == 0) {
    return false;
  }
  bool changed = false;
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    const std::size_t callback = streams_[stream].callback;
    const auto& parameters = scenario_->parameters(static_cast<sched::TaskIndex>(callback));
    const std::optional<nanoseconds>& bound = responses[stream].bound;
    const bool ends = bound && demand(stream).releases.period.count() > 0 &&
                      *bound <= demand(stream).releases.time(1) &&
                      std::ranges::count(streams_, callback, &Stream::callback) == 1;
    if (!ends && !waits_for_job_[callback] && parameters.overrun != sched::Overrun::skip) {
      waits_for_job_[callback] = changed = true;
    }
    changed = delay_interrupt(stream, bound) || changed;
  }
  if (changed) {
    apply_costs();
  }
  return changed;
}

// While somebody waits, jobs below run, end and notice: at the latest when they start. Whether
// anything changed.
bool ScenarioModel::delay_interrupt(std::size_t stream, const std::optional<nanoseconds>& bound) {
  CoreDemands& core = cores_[places_[stream].core];
  const auto jobs = std::span{core.demands}.first(core.jobs);
  if (std::ranges::none_of(jobs, &Demand::waits)) {
    return false;
  }
  Demand& interrupt = core.demands[places_[stream].demand + core.jobs];
  const Demand before = interrupt;
  interrupt.releases = bound ? demand(stream).releases : Arrivals{};
  interrupt.lag = std::max(demand(stream).lag, bound.value_or(nanoseconds{0}));
  return interrupt.releases != before.releases || interrupt.lag != before.lag;
}

bool ScenarioModel::apply_ends(const ScenarioBounds& bounds) {
  const std::vector<Response>& responses = bounds.responses;
  bool changed = assume_latencies(bounds);
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    const Stream& own = streams_[stream];
    if (own.cause() != nobody) {
      const Arrivals released = own.called_by != nobody
                                    ? requests(stream, bounds)
                                    : in_turn(ends(own.cause(), bounds), own.every);
      if (demand(stream).releases != released) {
        set_releases(stream, released, demand(stream).lag);
        changed = true;
      }
    } else if (streams_[stream].asked_by != nobody && !streams_[stream].circle) {
      changed = propagate_requests(stream, responses) || changed;
    }
  }
  changed = propagate_publications(bounds) || changed;
  changed = propagate_responses(responses) || changed;
  changed = count_shifts() || changed;
  return count_late_notices(responses) || changed;
}

}  // namespace takt::analysis
