// SPDX-License-Identifier: Apache-2.0
//
// How a scenario becomes streams of releases: who is released by whom, and what a job costs.
#include <algorithm>
#include <string>

#include "../sched/text.hpp"
#include "bounds.hpp"
#include "lock_blocking.hpp"
#include "takt/analysis/scenario_model.hpp"
#include "threads.hpp"

namespace takt::analysis {
namespace {

using sched::TaskKind;
using sched::TaskParameters;

// A task that is released over so many ways is not understood by anybody. Besides the first way of
// each, for large robots have many tasks.
constexpr std::size_t most_streams = 1'000;

// No response comes near what stands for "none", and tests may add to it.
nanoseconds deadline_of(const TaskParameters& parameters) {
  const nanoseconds deadline = sched::relative_deadline(parameters);
  return deadline.count() > 0 ? deadline : sched::longest_time;
}

std::int64_t most_pending(const TaskParameters& parameters) {
  switch (parameters.overrun) {
    case sched::Overrun::skip:
      return 1;
    case sched::Overrun::queue_one:
      return 2;
    case sched::Overrun::catch_up:
      break;
  }
  return 0;
}

std::vector<ComputingSegment> computing_segments(const application::Callback& callback) {
  const std::vector<application::Segment>& segments = callback.segments;
  std::vector<ComputingSegment> result;
  result.reserve((segments.size() + 1) / 2);
  for (std::size_t i = 0; i < segments.size(); i += 2) {
    const bool last = i + 1 == segments.size();
    result.push_back({.declared = segments[i].longest,
                      .longest = segments[i].longest,
                      .shortest_wait = last ? nanoseconds{0} : segments[i + 1].shortest});
  }
  return result;
}

bool occupies_device(const application::Callback& callback) {
  return std::ranges::any_of(callback.segments, [](const application::Segment& segment) {
    return segment.occupies < segment.longest && !segment.device.empty();
  });
}

}  // namespace

ScenarioModel::ScenarioModel(const application::Application& application,
                             const sched::CompiledStrategy& strategy,
                             const sched::CompiledScenario& scenario)
    : strategy_(&strategy),
      scenario_(&scenario),
      release_overhead_(has_several_threads(application, scenario) ? nanoseconds{0}
                                                                   // each job pays it
                                                                   : application.overheads.release),
      test_(test_for(scenario.policy())) {
  add_costs(application);
  add_calls(application);
  add_streams(application, strategy);
  place(application, strategy);
  idles_.assign(cores_.size(), true);
  add_deliveries(application);
  note_uncounted_waits(application);
  refuse_early_releases_of_joins();
  refuse_early_releases_of_lanes(application);
  apply_costs();
  count_shifts();
  has_messages_ = std::ranges::any_of(streams_, [](const Stream& stream) {
    return stream.parent != nobody || stream.join != nobody;
  });
  forget_latencies();
}

void ScenarioModel::add_stream(Stream stream, const Arrivals& releases, nanoseconds deadline) {
  streams_.push_back(stream);
  pending_.push_back({.releases = releases, .deadline = deadline});
}

void ScenarioModel::add_streams(const application::Application& application,
                                const sched::CompiledStrategy& strategy) {
  const auto& tasks = strategy.tasks();
  const auto parameters = scenario_->parameters();
  declare_joins(application);
  // Roots first: time and the outside.
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (!parameters[i].active) {
      continue;
    }
    const nanoseconds deadline = deadline_of(parameters[i]);
    // Releases may wait for the job before although all deadlines are kept.
    const bool waits =
        deadline > parameters[i].period && parameters[i].overrun != sched::Overrun::skip;
    iterates_ = iterates_ || (release_overhead_.count() > 0 && (waits || tasks[i].waits));
    if (tasks[i].kind == TaskKind::timer) {
      add_stream({.callback = i}, {.period = parameters[i].period}, deadline);
      continue;
    }
    const application::Topic* topic = application.find_topic(tasks[i].trigger);
    if (topic == nullptr || !topic->external) {
      continue;
    }
    nanoseconds period = topic->external_period;
    if (period.count() == 0) {
      period = parameters[i].period;
    }
    if (period.count() == 0) {
      remarks_.push_back("'" + tasks[i].name + "' is released by topic '" + topic->name +
                         "' without a least distance: give the topic a period, or the callback");
    }
    iterates_ = iterates_ || (release_overhead_.count() > 0 && deadline > period);
    add_stream(
        {.callback = i},
        {.period = period, .jitter = topic->external_jitter, .distance = topic->external_distance},
        deadline);
  }
  // Then, stream by stream, what its jobs release: causes come before what they cause. A join is
  // followed when nothing else is left.
  std::size_t stream = 0;
  do {
    for (; stream < streams_.size(); ++stream) {
      add_early_releases(strategy, stream);
      add_released(application, strategy, stream);
      add_called(strategy, stream);
    }
  } while (follow_join(application, strategy));
  give_turns(application);
  for (JoinModel& join : joins_) {
    for (const std::size_t callback : join.callbacks) {
      join.streams.push_back(streams_of(callback));
    }
  }
}

// Whether the callback is on the way from the root to this stream.
bool ScenarioModel::is_upstream(std::size_t callback, std::size_t stream) const noexcept {
  while (stream != nobody && streams_[stream].callback != callback) {
    stream = streams_[stream].cause();
  }
  return stream != nobody;
}

// A job that publishes n messages releases n jobs at once: n streams with the same releases.
void ScenarioModel::add_released(const application::Application& application,
                                 const sched::CompiledStrategy& strategy, std::size_t stream) {
  const auto& tasks = strategy.tasks();
  const std::size_t writer = streams_[stream].callback;
  if (join_of_[writer] != nobody) {
    return;
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].kind != TaskKind::message || !scenario_->parameters()[i].active ||
        !contains(tasks[writer].writes, tasks[i].trigger)) {
      continue;
    }
    const std::int64_t messages = application.callbacks[writer].messages_on(tasks[i].trigger).most;
    const bool in_turn = application.callbacks[i].lanes > 1;
    for (std::int64_t message = 0; message < messages; ++message) {
      add_released(strategy,
                   {.callback = i,
                    .parent = in_turn ? nobody : stream,
                    .turns_of = in_turn ? stream : nobody},
                   messages > 1);
    }
  }
}

void ScenarioModel::add_released(const sched::CompiledStrategy& strategy, Stream released,
                                 bool several) {
  iterates_ = true;
  const std::size_t cause = released.cause();
  const bool again = is_upstream(released.callback, cause);
  if (streams_.size() >= most_streams + scenario_->parameters().size() || again) {
    add_unfollowed(strategy, released.callback, again, several);
    return;
  }
  released.early = streams_[cause].early;
  add_stream(released, pending_[cause].releases,
             deadline_of(scenario_->parameters()[released.callback]));
}

// Messages that release each other for ever: only a least distance bounds them, all together. Those
// that one job publishes, and those that come in different ways, may come at once.
void ScenarioModel::add_unfollowed(const sched::CompiledStrategy& strategy, std::size_t callback,
                                   bool by_its_own, bool several) {
  const TaskParameters& parameters = scenario_->parameters()[callback];
  const bool apart = by_its_own && !several;
  const nanoseconds period = apart ? parameters.period : nanoseconds{0};
  const auto known = std::ranges::find_if(
      streams_, [&](const Stream& other) { return other.callback == callback && other.last; });
  if (known != streams_.end()) {
    Arrivals& releases = pending_[static_cast<std::size_t>(known - streams_.begin())].releases;
    if (apart || releases.period.count() == 0) {
      return;
    }
    releases = {};
  } else {
    add_stream({.callback = callback, .last = true}, {.period = period}, deadline_of(parameters));
  }
  std::string remark = "'" + strategy.tasks()[callback].name + "' is released ";
  if (apart) {
    remark += period.count() > 0
                  ? "by its own messages; its period is taken for their least distance"
                  : "by its own messages, and has no least distance: give it a period";
  } else {
    remark += by_its_own ? "by its own messages, several at once: nothing bounds their number"
                         : "in too many ways: its releases are not counted, and have no bound. Let "
                           "fewer callbacks, or jobs that publish fewer messages, lead to it";
  }
  remarks_.push_back(std::move(remark));
}

// Whether jobs of the callback are among the causes of this stream, by messages or requests.
bool ScenarioModel::causes(std::size_t callback, std::size_t stream) const noexcept {
  while (stream != nobody && streams_[stream].callback != callback) {
    const Stream& caused = streams_[stream];
    stream = caused.parent != nobody ? caused.parent : caused.asked_by;
  }
  return stream != nobody;
}

// A source that keeps the age of what a reader gets is released before its time at most once for
// each job of the reader, and its period counts from there.
void ScenarioModel::add_early_releases(const sched::CompiledStrategy& strategy,
                                       std::size_t reader) {
  const std::size_t callback = streams_[reader].callback;
  for (const sched::AgeConstraint& age :
       scenario_->age_constraints(static_cast<sched::TaskIndex>(callback))) {
    if (!age.needs_early_release() || !scenario_->parameters(*age.source).active) {
      continue;
    }
    iterates_ = true;
    const std::size_t source = *age.source;
    const std::string names = "'" + strategy.tasks()[source].name +
                              "' starts before its time for '" + strategy.tasks()[callback].name +
                              "'";
    // The executor lets the early job be due when the reader is released.
    const nanoseconds deadline = std::min(deadline_of(scenario_->parameters(*age.source)),
                                          std::max(age.lead(), nanoseconds{1}));
    if (streams_[reader].circle || causes(source, reader) ||
        streams_.size() >= most_streams + scenario_->parameters().size()) {
      if (std::ranges::none_of(streams_, [&](const Stream& stream) {
            return stream.callback == source && stream.circle;
          })) {
        remarks_.push_back(names +
                           ", which its own jobs lead to: nobody knows how often. Allow "
                           "one of those that read from each other more age");
        add_stream({.callback = source, .early = true, .asked_by = reader, .circle = true},
                   {.period = nanoseconds{0}}, deadline);
      }
      continue;
    }
    if (std::ranges::find(streams_, callback, &Stream::callback) - streams_.begin() ==
        static_cast<std::ptrdiff_t>(reader)) {
      remarks_.push_back(names +
                         ", at most once for each of its jobs; counted as releases of their own. "
                         "The first one, at the start, cannot be in time. There is none with a "
                         "max_age of " +
                         sched::time_text(age.oldest) +
                         ", or of less with shorter deadlines of those that make the data");
    }
    add_stream({.callback = source, .early = true, .asked_by = reader, .lead = age.lead()},
               pending_[reader].releases, deadline);
  }
}

void ScenarioModel::place(const application::Application& application,
                          const sched::CompiledStrategy& strategy) {
  const sched::Policy& policy = scenario_->policy();
  const std::vector<std::vector<Section>> sections = sections_of(application, strategy, *scenario_);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    for (const Section& section : sections[i]) {
      costs_[i].waiting = os::add_sat(costs_[i].waiting, section.waiting);
    }
  }
  std::vector<std::size_t> core_of(strategy.tasks().size(), 0);
  for (const sched::Core& core : strategy.cores()) {
    for (const sched::TaskIndex task : core.tasks) {
      core_of[task] = cores_.size();
    }
    cores_.push_back({.cpu = core.cpu, .demands = {}, .streams = {}, .jobs = 0});
    cores_.back().supply = Supply{declared_for(application, core.cpu)};
  }
  if (has_several_threads(application, *scenario_)) {
    cores_.front().supply = cores_.front().supply.for_threads(std::ssize(application.cpus));
  }
  const std::vector<std::size_t> groups = group_numbers(strategy);
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    const std::size_t callback = streams_[stream].callback;
    const auto index = static_cast<sched::TaskIndex>(callback);
    const sched::Level level = scenario_->ceilings().level(index);
    const sched::Level boosted = scenario_->ceilings().boosted_level(index);
    CoreDemands& core = cores_[core_of[callback]];
    places_.push_back({.core = core_of[callback], .demand = core.demands.size()});
    core.streams.push_back(stream);
    core.demands.push_back({.task = callback,
                            .group = groups[callback],
                            .reentrant = application.callbacks[callback].reentrant,
                            .releases = pending_[stream].releases,
                            .lag = jitters_[callback] + streams_[stream].lead,
                            .notice = release_overhead_,
                            .deadline = pending_[stream].deadline,
                            .level = level,
                            .ceiling = ceiling_for(policy, scenario_->ceilings().ceiling(index)),
                            .boosted = boosted > level ? boosted : sched::no_ceiling,
                            .most_pending = most_pending(scenario_->parameters(index)),
                            .waits = strategy.tasks()[callback].waits,
                            .suspension = application.callbacks[callback].suspension,
                            .suspensions = application.callbacks[callback].suspensions,
                            .segments = computing_segments(application.callbacks[callback]),
                            .sections = sections[callback],
                            .clients = clients_of(stream),
                            .calls = application.callbacks[callback].calls(),
                            .occupies = occupies_device(application.callbacks[callback])});
  }
  pending_.clear();
  for (CoreDemands& core : cores_) {
    core.jobs = core.demands.size();
  }
  add_interrupts(application);
}

}  // namespace takt::analysis
