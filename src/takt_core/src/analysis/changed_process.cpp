// SPDX-License-Identifier: Apache-2.0
#include "changed_process.hpp"

#include <algorithm>
#include <utility>

#include "bounds.hpp"
#include "methods.hpp"
#include "piling_up.hpp"
#include "robot_words.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "takt/application/compile.hpp"
#include "verdict.hpp"

namespace takt::analysis {

using application::Application;
using application::Callback;

namespace {

constexpr int most_rounds = 100;
constexpr std::int64_t most_steps = 100'000'000;
// Priorities of those that may be before a callback, of itself, and of the others.
constexpr int before_it = 3;
constexpr int its_own = 2;
constexpr int after_it = 1;
// Later than any other.
constexpr nanoseconds no_deadline = std::chrono::hours{24};

bool is_message(const Callback& callback) {
  return callback.task.kind == sched::TaskKind::message;
}

std::string own_topic(const Callback& reader) {
  return "messages for " + reader.task.name;
}

}  // namespace

struct ChangedProcess::Apart {
  explicit Apart(Application of)
      : application(std::move(of)),
        strategy(application::compile(application)),
        model(application, strategy, strategy.scenarios().front()) {}

  // The stream of a callback, if anything releases it.
  [[nodiscard]] std::optional<std::size_t> stream(std::size_t callback) const {
    const auto found = std::ranges::find(model.streams(), callback, &Stream::callback);
    return found == model.streams().end()
               ? std::nullopt
               : std::optional{static_cast<std::size_t>(found - model.streams().begin())};
  }

  ScenarioBounds solve(std::int64_t& steps) {
    Effort effort;
    const std::int64_t given = effort.steps;
    ScenarioBounds bounds = model.solve(effort, Graphs::none);
    steps -= given - effort.steps;
    return bounds;
  }

  Application application;
  sched::CompiledStrategy strategy;
  ScenarioModel model;
};

std::optional<nanoseconds> ChangedProcess::Unit::response() const {
  return latency ? std::optional{*latency - before} : std::nullopt;
}

ChangedProcess::ChangedProcess(const Application& view, const ScenarioChanges& changes,
                               std::int64_t& steps)
    : view_(view), changes_(changes), units_(view.callbacks.size()) {
  find_trees();
  for (int round = 0; round < most_rounds && steps > 0 && !circle_; ++round) {
    const std::vector<Unit> before = units_;
    const Apart all{apart()};
    by_deadlines_ = !all.strategy.scenarios().front().policy().fixed_priority();
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (units_[i].root == i && all.stream(i)) {
        bound_tree(all, i, steps);
      }
    }
    if (units_ == before) {
      judge(steps);
      return;
    }
  }
  for (Unit& one : units_) {  // it grows without end, or is too much to compute
    one.latency.reset();
    one.published = {};
  }
}

void ChangedProcess::find_trees() {
  const std::vector<Callback>& all = view_.callbacks;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto writer = std::ranges::find_if(
        all, [&](const Callback& one) { return publishes(one, all[i].task.trigger); });
    const bool inside = is_message(all[i]) && writer != all.end();
    units_[i].parent = inside ? static_cast<std::size_t>(writer - all.begin()) : i;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::size_t root = i;
    for (std::size_t step = 0; units_[root].parent != root; ++step) {
      root = units_[root].parent;
      units_[i].before += all[root].execution.best;
      if (step > all.size()) {
        circle_ = true;
        return;
      }
    }
    units_[i].root = root;
  }
}

// Whether a job has not begun when the one ends that leads to it. A message comes when the job has
// computed, and not ended: what it releases preempts it if it is more urgent.
bool ChangedProcess::follows(std::size_t callback, std::size_t from) const {
  while (units_[callback].parent != from) {
    if (units_[callback].parent == callback) {
      return false;
    }
    callback = units_[callback].parent;
  }
  const ScenarioChange& child = changes_.of(view_.callbacks[callback].task.name);
  const ScenarioChange& own = changes_.of(view_.callbacks[from].task.name);
  if (!by_deadlines_) {
    return child.highest_level <= own.lowest_level;
  }
  return own.longest_deadline.count() > 0 &&
         (child.shortest_deadline.count() == 0 || child.shortest_deadline >= own.longest_deadline);
}

// Each callback that messages of the process release has a topic of its own, from outside.
Application ChangedProcess::apart() const {
  Application result = view_;
  for (std::size_t i = 0; i < result.callbacks.size(); ++i) {
    Callback& reader = result.callbacks[i];
    if (units_[i].parent == i) {
      continue;
    }
    const Unit& writer = units_[units_[i].parent];
    const application::Topic* const declared = view_.find_topic(reader.task.trigger);
    application::Topic topic = declared == nullptr ? application::Topic{} : *declared;
    topic.name = own_topic(reader);
    topic.external = true;
    topic.external_period = writer.published.period;
    topic.external_jitter = writer.published.jitter;
    topic.external_distance = writer.published.distance;
    if (writer.published.period.count() <= 0) {
      reader.task.parameters.active = false;  // so far; without a bound its tree has none
    }
    reader.task.trigger = topic.name;
    result.topics.push_back(std::move(topic));
  }
  return result;
}

// The latest deadline of its jobs, from the release of the root.
nanoseconds ChangedProcess::latest_deadline(std::size_t root) const {
  nanoseconds latest{0};
  for (std::size_t i = 0; i < units_.size(); ++i) {
    if (units_[i].root != root || !view_.callbacks[i].task.parameters.active) {
      continue;
    }
    const nanoseconds own = changes_.of(view_.callbacks[i].task.name).longest_deadline;
    if (own.count() == 0) {
      return no_deadline;
    }
    const std::optional<nanoseconds> released =
        i == root ? std::optional{nanoseconds{0}} : units_[units_[i].parent].latency;
    latest = std::max(latest, released.value_or(nanoseconds{0}) + own);
  }
  return latest;
}

// The tree as one job of its root, in the order of jobs that is worst for it.
Application ChangedProcess::beside(const Apart& apart, std::size_t root) const {
  Application result = apart.application;
  sched::Level level = sched::infinite_ceiling;
  nanoseconds more{0};
  for (std::size_t i = 0; i < units_.size(); ++i) {
    Callback& part = result.callbacks[i];
    if (units_[i].root != root || !view_.callbacks[i].task.parameters.active) {
      continue;
    }
    level = std::min(level, changes_.of(part.task.name).lowest_level);
    if (i != root) {
      // As it costs by itself, with the noticing of its message.
      const std::optional<std::size_t> stream = apart.stream(i);
      more += (stream ? apart.model.demand(*stream).execution : part.execution.worst) +
              result.overheads.release;
      part.task.parameters.active = false;
    }
  }
  Callback& own = result.callbacks[root];
  own.execution.worst += more;
  own.execution.quantiles.clear();
  own.task.parameters.expected_execution = own.execution.worst;
  if (by_deadlines_) {
    own.task.parameters.deadline = latest_deadline(root);
    return result;
  }
  result.policy = "fp";
  for (Callback& callback : result.callbacks) {
    const bool first = changes_.of(callback.task.name).highest_level >= level;
    callback.task.parameters.priority = first ? before_it : after_it;
  }
  result.callbacks[root].task.parameters.priority = its_own;
  return result;
}

void ChangedProcess::bound_tree(const Apart& apart, std::size_t root, std::int64_t& steps) {
  Apart together{beside(apart, root)};
  const ScenarioBounds bounds = together.solve(steps);
  const std::size_t stream = *together.stream(root);
  const Demand& demand = together.model.demand(stream);
  const std::optional<nanoseconds> whole =
      bounds.converged ? bounds.responses[stream].bound : std::nullopt;
  const std::size_t core = together.model.core_of(stream);
  for (std::size_t i = 0; i < units_.size(); ++i) {
    Unit& one = units_[i];
    const std::optional<std::size_t> single_stream = apart.stream(i);
    if (one.root != root || !single_stream) {
      continue;
    }
    const Demand& own = apart.model.demand(*single_stream);
    one.known = true;
    one.cpu = apart.strategy.tasks()[i].cpu;
    one.releases = own.releases;
    one.noticed = own.noticed();
    one.execution = own.execution;
    one.utilization = utilization(own);
    one.bound_by = method_of(together.model.test_on(core), demand, bounds.responses[stream],
                             together.model.cores()[core], bounds.cores[core]);
    one.latency = whole;
    for (std::size_t other = 0; whole && other < units_.size(); ++other) {
      if (other != i && follows(other, i) && apart.stream(other)) {
        *one.latency -= apart.model.demand(*apart.stream(other)).execution;
      }
    }
    one.published = {};
    if (whole) {
      const bool anywhere = view_.callbacks[i].publishes_anywhere;
      const nanoseconds best = anywhere ? nanoseconds{0} : view_.callbacks[i].execution.best;
      const nanoseconds varies = *one.latency - one.before - best;
      one.published = unless_piling_up({.period = demand.releases.period,
                                        .jitter = demand.releases.jitter + varies,
                                        .distance = demand.releases.distance - varies});
      one.published.distance = std::max({one.published.distance, best, nanoseconds{0}});
    }
  }
}

// Of a tree of one callback, jobs with the shortest deadlines are judged beside each other, too.
void ChangedProcess::judge(std::int64_t& steps) {
  std::vector<std::optional<nanoseconds>> shortest(units_.size());
  if (by_deadlines_) {
    Apart all{apart()};
    const ScenarioBounds bounds = all.solve(steps);
    for (std::size_t stream = 0; stream < all.model.streams().size(); ++stream) {
      shortest[all.model.streams()[stream].callback] = bounds.responses[stream].bound;
    }
  }
  for (std::size_t i = 0; i < units_.size(); ++i) {
    Unit& one = units_[i];
    const nanoseconds deadline = changes_.of(view_.callbacks[i].task.name).shortest_deadline;
    const bool single = std::ranges::count(units_, one.root, &Unit::root) == 1;
    const auto keeps = [&](const std::optional<nanoseconds>& response) {
      return response && *response <= deadline;
    };
    const bool kept =
        deadline.count() == 0 || keeps(one.response()) || (single && keeps(shortest[i]));
    bool ended = true;  // its tree, before the next one
    for (const Unit& other : units_) {
      const Arrivals& releases = units_[one.root].releases;
      ended =
          ended &&
          (other.root != one.root || !other.known ||
           (other.latency && releases.period.count() > 0 && *other.latency <= releases.time(1)));
    }
    one.on_time = !view_.callbacks[i].task.parameters.active || (one.known && kept && ended);
  }
}

Effects ChangedProcess::effects(const Application& robot) const {
  const bool starts = counts_starts(robot);
  Effects effects;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const Unit& one = units_[i];
    if (!one.known) {
      continue;
    }
    Load load{.noticed = one.noticed, .execution = one.execution};
    if (const auto response = one.response(); starts && response) {
      load.started = {.period = one.releases.period,
                      .jitter = one.releases.jitter + *response - one.execution};
    }
    effects.loads.push_back(load);
    effects.publishers.push_back(
        {.callback = view_.callbacks[i].task.name, .published = one.published});
  }
  return effects;
}

ScenarioReport ChangedProcess::report() const {
  ScenarioReport report{
      .name = "switches", .policy = view_.policy, .deadlines = Verdict::meets, .verdict = {}};
  CoreReport core{.verdict = Verdict::meets,
                  .bound_by = std::string{methods::across_switches_of_robots}};
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const Callback& own = view_.callbacks[i];
    const Unit& one = units_[i];
    if (!own.task.parameters.active) {
      continue;
    }
    const ScenarioChange& change = changes_.of(own.task.name);
    CallbackReport callback{.name = own.task.name,
                            .cpu = one.cpu,
                            .wcet = one.execution,
                            .jitter = one.releases.jitter + own.jitter,
                            .response = one.on_time ? one.response() : std::nullopt,
                            .verdict = one.on_time ? Verdict::meets : Verdict::not_proved,
                            .bound_by = one.bound_by};
    if (one.releases.period.count() > 0) {
      callback.period = one.releases.period;
    }
    if (change.shortest_deadline.count() > 0) {
      callback.deadline = change.shortest_deadline;
    }
    core.cpu = one.cpu;
    core.utilization += one.utilization;
    core.verdict = worse(core.verdict, callback.verdict);
    report.callbacks.push_back(std::move(callback));
  }
  report.deadlines = report.verdict = core.verdict;
  report.cores.push_back(std::move(core));
  const bool all = report.deadlines == Verdict::meets;
  for (const application::Chain& one : view_.chains) {
    ChainReport found = chain(one);
    if (!all) {  // where one job waits for the one before it, the bounds of none hold
      found.latency.reset();
    }
    report.chains.push_back(std::move(found));
  }
  return report;
}

std::optional<std::size_t> ChangedProcess::find(const std::string& callback) const {
  const auto found = std::ranges::find(view_.callbacks, callback,
                                       [](const Callback& one) { return one.task.name; });
  const auto at = static_cast<std::size_t>(found - view_.callbacks.begin());
  return at < units_.size() ? std::optional{at} : std::nullopt;
}

ScenarioReport across_switches(const Application& view, const ScenarioChanges& changes) {
  std::int64_t steps = most_steps;
  return ChangedProcess{view, changes, steps}.report();
}

// One tree after the other; a timer is released after its longest period of all scenarios.
ChainReport ChangedProcess::chain(const application::Chain& chain) const {
  ChainReport report{.name = chain.name, .callbacks = chain.callbacks};
  report.bound_by = methods::across_switches_of_robots;
  nanoseconds latency{0};
  std::optional<std::size_t> before;
  for (const std::string& name : chain.callbacks) {
    const std::optional<std::size_t> at = find(name);
    if (!at || !units_[*at].latency) {
      return report;
    }
    const Unit& one = units_[*at];
    const Callback& own = view_.callbacks[*at];
    if (!before) {
      latency = *one.response();
    } else if (is_message(own)) {
      if (one.parent != *before) {
        return report;
      }
      latency += *one.latency - *units_[*before].latency;
    } else {
      const bool reads = std::ranges::any_of(own.task.reads, [&](const sched::Read& read) {
        return publishes(view_.callbacks[*before], read.topic);
      });
      if (!reads) {
        return report;
      }
      latency += std::max(changes_.of(name).longest_period, own.task.parameters.offset);
      latency += *one.latency;
    }
    before = at;
  }
  report.latency = latency;
  return report;
}

}  // namespace takt::analysis
