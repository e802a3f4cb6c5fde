// SPDX-License-Identifier: Apache-2.0
//
// Joins in a scenario: what their publications release, and how often (docs/reference/analysis.md,
// eq. 21). Between two publications each callback of the join ends a job. So there is at most one
// publication more than ends of any one of them, and two are at least as far apart as two ends of
// the callback that completed the first set.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "bounds.hpp"
#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {

std::vector<std::size_t> ScenarioModel::streams_of(std::size_t callback) const {
  std::vector<std::size_t> result;
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    if (streams_[stream].callback == callback) {
      result.push_back(stream);
    }
  }
  return result;
}

void ScenarioModel::declare_joins(const application::Application& application) {
  join_of_.assign(strategy_->tasks().size(), nobody);
  for (std::vector<std::size_t>& callbacks : application.joins()) {
    for (const std::size_t callback : callbacks) {
      join_of_[callback] = joins_.size();
    }
    joins_.push_back({.callbacks = std::move(callbacks)});
  }
}

// By callback: false where a join that is not followed yet may lead to more releases.
std::vector<bool> ScenarioModel::known_releases(const sched::CompiledStrategy& strategy) const {
  const auto& tasks = strategy.tasks();
  std::vector<bool> known(tasks.size(), true);
  const auto is_open = [&](std::size_t writer) {
    return scenario_->parameters()[writer].active &&
           (!known[writer] || (join_of_[writer] != nobody && !joins_[join_of_[writer]].followed));
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t writer = 0; writer < tasks.size(); ++writer) {
      if (!is_open(writer)) {
        continue;
      }
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (known[i] && tasks[i].kind == sched::TaskKind::message &&
            contains(tasks[writer].writes, tasks[i].trigger)) {
          known[i] = false;
          changed = true;
        }
      }
    }
  }
  return known;
}

// Adds what one join releases, the one of which most is known. False if all are followed.
bool ScenarioModel::follow_join(const application::Application& application,
                                const sched::CompiledStrategy& strategy) {
  if (std::ranges::all_of(joins_, &JoinModel::followed)) {
    return false;
  }
  const std::vector<bool> known = known_releases(strategy);
  const auto unknown = [&](const JoinModel& join) {
    return join.followed ? std::numeric_limits<std::ptrdiff_t>::max()
                         : std::ranges::count_if(join.callbacks, [&](std::size_t callback) {
                             return !known[callback];
                           });
  };
  const auto next = std::ranges::min_element(joins_, {}, unknown);
  next->followed = true;
  if (find_rarest(application, *next, known)) {
    add_publications(application, strategy, static_cast<std::size_t>(next - joins_.begin()));
  }
  return true;
}

// How many releases a nanosecond these streams have together in the long run.
double ScenarioModel::rate_of(const std::vector<std::size_t>& streams) const noexcept {
  double rate = 0;
  for (const std::size_t stream : streams) {
    const nanoseconds apart = pending_[stream].releases.period;
    rate += apart.count() > 0 ? 1 / static_cast<double>(apart.count())
                              : std::numeric_limits<double>::infinity();
  }
  return rate;
}

// Finds which of its callbacks bound a join. False if it never publishes.
bool ScenarioModel::find_rarest(const application::Application& application, JoinModel& join,
                                const std::vector<bool>& known) {
  const std::string name = "join '" + application.callbacks[join.callbacks.front()].join + "'";
  std::vector<std::size_t> least;  // streams of the callback that is released least often
  double least_rate = std::numeric_limits<double>::infinity();
  for (const std::size_t callback : join.callbacks) {
    if (!known[callback]) {
      continue;
    }
    const std::vector<std::size_t> streams = streams_of(callback);
    if (streams.empty()) {
      remarks_.push_back(name + " never publishes: '" + strategy_->tasks()[callback].name +
                         "' is not released in this scenario");
      join.silent = true;
      return false;
    }
    if (streams.size() == 1) {
      join.single.push_back(streams.front());
    }
    const double rate = rate_of(streams);
    if (rate < least_rate || (rate == least_rate && streams.size() < least.size())) {
      least = streams;
      least_rate = rate;
    }
  }
  if (least.size() > 1) {
    join.several = least;
  }
  if (least.empty()) {
    remarks_.push_back("nothing bounds how often " + name +
                       " publishes: each of its callbacks is released without a least distance, "
                       "or by what the join itself publishes");
    join.single.clear();
  } else {
    join.period = pending_[least.front()].releases.period;
  }
  return true;
}

void ScenarioModel::add_publications(const application::Application& application,
                                     const sched::CompiledStrategy& strategy, std::size_t at) {
  iterates_ = true;
  const JoinModel& join = joins_[at];
  const auto& tasks = strategy.tasks();
  const std::size_t parts = std::max<std::size_t>(1, join.several.size());
  const std::size_t first = join.callbacks.front();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].kind != sched::TaskKind::message || !scenario_->parameters()[i].active ||
        !contains(tasks[first].writes, tasks[i].trigger)) {
      continue;
    }
    const std::int64_t messages = application.callbacks[first].messages_on(tasks[i].trigger).most;
    const nanoseconds deadline =
        sched::relative_deadline(scenario_->parameters(static_cast<sched::TaskIndex>(i)));
    for (std::int64_t message = 0; message < messages; ++message) {
      for (std::size_t part = 0; part < parts; ++part) {
        add_stream({.callback = i, .join = at, .part = part},
                   {.period = join.several.empty() ? join.period
                                                   : pending_[join.several[part]].releases.period},
                   deadline.count() > 0 ? deadline : sched::longest_time);
      }
    }
  }
}

std::vector<Arrivals> ScenarioModel::publications(std::size_t at,
                                                  const ScenarioBounds& bounds) const {
  const JoinModel& join = joins_[at];
  if (join.silent) {
    return {};
  }
  nanoseconds distance = never;
  nanoseconds latest{0};  // the largest jitter, if all callbacks end jobs with the same period
  nanoseconds period{0};
  bool alike = true;
  for (std::size_t i = 0; i < join.callbacks.size(); ++i) {
    const std::size_t callback = join.callbacks[i];
    nanoseconds apart = costs_[callback].anywhere
                            ? nanoseconds{0}
                            : std::min(costs_[callback].best, execution(callback));
    const Arrivals ends =
        join.streams[i].size() == 1 ? this->ends(join.streams[i].front(), bounds) : Arrivals{};
    alike = alike && ends.period.count() > 0 && (i == 0 || ends.period == period);
    period = ends.period;
    if (ends.period.count() > 0) {
      apart = std::max(apart, ends.time(1));
      latest = std::max(latest, ends.jitter);
    }
    distance = std::min(distance, apart);
  }
  if (!join.several.empty()) {
    std::vector<Arrivals> result;
    for (const std::size_t stream : join.several) {
      Arrivals part = ends(stream, bounds);
      part.jitter += part.period;
      part.distance = part.period.count() > 0 ? distance : part.distance;
      result.push_back(part);
    }
    return result;
  }
  Arrivals least;
  for (const std::size_t stream : join.single) {
    const Arrivals found = ends(stream, bounds);
    if (found.period > least.period ||
        (found.period == least.period && found.jitter < least.jitter)) {
      least = found;
    }
  }
  if (least.period.count() == 0) {
    return {Arrivals{}};
  }
  least.jitter += least.period;
  if (alike) {
    least.jitter = std::min(least.jitter, latest);
  }
  least.distance = distance;
  return {least};
}

// The period of what a stream of a join's reader is released by, before the first round.
nanoseconds ScenarioModel::least_period(std::size_t stream) const noexcept {
  const JoinModel& join = joins_[streams_[stream].join];
  if (!join.several.empty()) {
    return demand(join.several[streams_[stream].part]).releases.period;
  }
  nanoseconds period{0};
  for (const std::size_t single : join.single) {
    period = std::max(period, demand(single).releases.period);
  }
  return period;
}

// Whether anything changed.
bool ScenarioModel::propagate_publications(const ScenarioBounds& bounds) {
  bool changed = false;
  for (std::size_t join = 0; join < joins_.size(); ++join) {
    const std::vector<Arrivals> published = publications(join, bounds);
    for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
      if (streams_[stream].join == join &&
          demand(stream).releases != published[streams_[stream].part]) {
        set_releases(stream, published[streams_[stream].part], demand(stream).lag);
        changed = true;
      }
    }
  }
  return changed;
}

// What an early release leads to is followed by messages, and not through a join.
void ScenarioModel::refuse_early_releases_of_joins() {
  if (joins_.empty() || std::ranges::none_of(streams_, &Stream::early)) {
    return;
  }
  for (CoreDemands& core : cores_) {
    core.entangled = true;
  }
  remarks_.emplace_back(
      "nothing is proved of joins together with early releases: remove max_age, or join");
}

}  // namespace takt::analysis
