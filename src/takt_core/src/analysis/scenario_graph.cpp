// SPDX-License-Identifier: Apache-2.0
//
// A core of a scenario as its schedule graph, where it has one: when is everything released?
#include <algorithm>

#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {
namespace {

constexpr std::size_t most_brief_vertices = 10'000;  // some tens of milliseconds
constexpr std::size_t most_waiting = 8;              // messages of one topic, for the same reason

}  // namespace

// Nobody needs to look at the schedules of a core that has too much to do.
bool ScenarioModel::can_be_explored(const CoreDemands& core) const noexcept {
  return test_ != Test::none && !is_of_rclcpp(test_) && !scenario_->policy().preemptive() &&
         (test_ == Test::schedule_graph || !overloaded(core.demands, core.supply));
}

// Whether whoever gets the core free knows which messages wait, and which job comes before another.
bool ScenarioModel::is_foreseeable(const CoreDemands& core, std::size_t message) const {
  const std::size_t stream = core.streams[message];
  const Demand& own = core.demands[message];
  const auto& parameters =
      scenario_->parameters(static_cast<sched::TaskIndex>(streams_[stream].callback));
  const sched::Policy& policy = scenario_->policy();
  const bool by_deadline = policy.order() == sched::Order::deadline;
  if (!policy.work_conserving() || (!policy.fixed_priority() && !by_deadline) ||
      release_overhead_.count() > 0 || own.lag.count() > 0 ||
      queues_[streams_[stream].callback] == 0 || parameters.overrun != sched::Overrun::catch_up) {
    return false;
  }
  const std::size_t parent = streams_[stream].parent;
  if (parent == nobody || core_of(parent) != core_of(stream) ||
      costs_[streams_[parent].callback].anywhere) {
    return false;
  }
  for (std::size_t i = 0; i < core.jobs; ++i) {
    if (i != message &&
        (by_deadline ? core.demands[i].task == own.task : core.demands[i].level == own.level)) {
      return false;  // several streams of the same callback, too
    }
  }
  return true;
}

// Empty: nothing is in the way.
std::string ScenarioModel::why_not_explored(const CoreDemands& core) const {
  if (!core.supply.undisturbed()) {
    return "it is withheld or interrupted at times that are not known";
  }
  if (strategy_->scenarios().size() > 1) {
    return "a switch of the scenario may shift its timers against each other";
  }
  std::size_t timers = 0;
  std::string any_offset;
  for (std::size_t i = 0; i < core.jobs; ++i) {
    const Stream& stream = streams_[core.streams[i]];
    const sched::Task& task = strategy_->tasks()[stream.callback];
    timers += task.kind == sched::TaskKind::timer ? 1 : 0;
    any_offset = task.any_offset ? task.name : any_offset;
    if (stream.join != nobody) {
      return "'" + task.name + "' is released by a join, which graphs do not know";
    }
    if (task.kind == sched::TaskKind::message && !task.lane_of.empty()) {
      return "several jobs of '" + task.lane_of + "' may run at once, which graphs do not know";
    }
    if (task.kind == sched::TaskKind::message && !is_foreseeable(core, i)) {
      return "'" + task.name +
             "' is released by messages, which is foreseen under 'np-fp' and 'np-edf' only, "
             "without "
             "overheads of releases, from one callback on its core that publishes at its end, "
             "where its "
             "priority is its own ('np-fp'), all of them are caught up on, and none is noticed "
             "late";
    }
    if (stream.early) {
      return "'" + task.name + "' starts before its time to keep the age of its data";
    }
    const auto& parameters = scenario_->parameters(static_cast<sched::TaskIndex>(stream.callback));
    if (task.kind == sched::TaskKind::timer &&
        sched::relative_deadline(parameters) > parameters.period) {
      return "the deadline of '" + task.name + "' is above its period";
    }
  }
  if (!any_offset.empty() && timers > 1) {
    return "the offset of '" + any_offset +
           "' is unknown, so others may be released at any time "
           "before and after its releases";
  }
  return {};
}

CoreGraph ScenarioModel::explore(const CoreDemands& core, Graphs graphs) const {
  CoreGraph result;
  result.graph.reason = why_not_explored(core);
  if (!result.graph.reason.empty()) {
    return result;
  }
  result.streams.assign(core.streams.begin(),
                        core.streams.begin() + static_cast<std::ptrdiff_t>(core.jobs));
  std::ranges::sort(result.streams, {},
                    [this](std::size_t stream) { return streams_[stream].callback; });
  std::vector<PeriodicTask> tasks;
  bool counted = release_overhead_.count() > 0;
  for (const std::size_t stream : result.streams) {
    const Cost& cost = costs_[streams_[stream].callback];
    const auto index = static_cast<sched::TaskIndex>(streams_[stream].callback);
    const Demand& demand = this->demand(stream);
    counted = counted || cost.around.count() > 0;
    tasks.push_back(
        {.first = scenario_->job(index, 0, sched::TimePoint{scenario_->parameters(index).offset}),
         .lag = demand.lag,
         .best = std::clamp(cost.best, nanoseconds{1}, demand.execution),
         .worst = demand.execution});
    if (streams_[stream].parent != nobody) {
      tasks.back().writer = static_cast<std::size_t>(
          std::ranges::find(result.streams, streams_[stream].parent) - result.streams.begin());
      tasks.back().depth = std::min(queues_[streams_[stream].callback], most_waiting);
    }
  }
  GraphOptions options{.release_overhead = release_overhead_, .witness = graphs == Graphs::witness};
  if (graphs == Graphs::brief) {
    options.most_vertices = most_brief_vertices;
  }
  result.graph = analysis::explore(scenario_->policy(), tasks, options);
  // What messages and dispatching cost at most, they need not cost ever.
  result.graph.exact = result.graph.exact && !counted;
  return result;
}

}  // namespace takt::analysis
