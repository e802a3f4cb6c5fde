// SPDX-License-Identifier: Apache-2.0
#include "robot_effects.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "takt/analysis/scenario_model.hpp"
#include "takt/application/compile.hpp"
#include "threads.hpp"

namespace takt::analysis {
namespace {

// Whether its policy may leave the core idle on purpose, so that others run before its jobs.
bool may_idle(const ScenarioModel& model, const ScenarioBounds& bounds) {
  return model.test() == Test::schedule_graph &&
         !std::ranges::all_of(bounds.cores, &CoreBounds::without_idling);
}

// Without a graph, but for a process that only a graph can prove.
ScenarioBounds solve(ScenarioModel& model, bool disturbed, std::int64_t& steps) {
  Effort effort;
  const std::int64_t given = effort.steps;
  ScenarioBounds bounds = model.solve(effort, Graphs::none);
  if (!disturbed && may_idle(model, bounds)) {
    bounds = model.solve(effort, Graphs::verdict);
  }
  steps -= given - effort.steps;
  return bounds;
}

// The jobs of a stream as those below notice them: one that waits, or for whose start its policy
// may wait, may have waited for long before, and the next one not at all. The same holds where
// another thread of its executor runs a job of its group, or looks for what is ready. A job that
// has begun may come from another core, which its thread had to leave: what comes after that by
// less than C before its end is no more than what is left until then.
Load load_of(const Demand& demand, bool idles, bool moves,
             const std::optional<nanoseconds>& response, nanoseconds preemption) {
  Load load{.noticed = demand.noticed(), .execution = demand.execution};
  if (demand.waits || idles || moves) {
    load.noticed = response
                       ? Arrivals{.period = demand.releases.period,
                                  .jitter = demand.releases.jitter + *response - demand.execution}
                       : Arrivals{};
    load.execution += demand.suspensions * preemption;
  }
  return load;
}

}  // namespace

bool counts_starts(const application::Application& robot) {
  return robot.overheads.any() &&
         std::ranges::any_of(robot.processes, [](const application::Process& one) {
           return one.reservation.has_value();
         });
}

Effects effects_of(const application::Application& view, const application::Application& robot,
                   bool moves, bool disturbed, std::int64_t& steps) {
  const sched::CompiledStrategy strategy = application::compile(view);
  ScenarioModel model{view, strategy, strategy.scenarios().front()};
  const ScenarioBounds bounds = solve(model, disturbed, steps);
  const bool idles = may_idle(model, bounds);
  moves = moves || has_several_threads(view, strategy.scenarios().front());
  const bool starts = counts_starts(robot);
  Effects effects;
  for (std::size_t stream = 0; stream < model.streams().size(); ++stream) {
    const Demand& demand = model.demand(stream);
    const Stream& own = model.streams()[stream];
    const bool known =
        bounds.converged || (own.parent == nobody && own.join == nobody && !own.early);
    Load load =
        load_of(demand, idles, moves, bounds.responses[stream].bound, robot.overheads.preemption);
    load.noticed = known ? load.noticed : Arrivals{};
    if (const auto& bound = bounds.responses[stream].bound; starts && known && bound) {
      load.started = {.period = demand.releases.period,
                      .jitter = demand.releases.jitter + *bound - demand.execution};
    }
    effects.loads.push_back(load);
    if (model.join_of(own.callback) == nobody) {
      effects.publishers.push_back(
          {.callback = strategy.tasks()[own.callback].name,
           .published = bounds.converged ? model.ends(stream, bounds) : Arrivals{}});
    }
  }
  for (std::size_t join = 0; join < model.joins().size(); ++join) {
    for (const Arrivals& one : model.publications(join, bounds)) {
      effects.publishers.push_back(
          {.callback = strategy.tasks()[model.joins()[join].callbacks.front()].name,
           .published = bounds.converged ? one : Arrivals{}});
    }
  }
  effects.served = served_elsewhere(view, model, bounds);
  return effects;
}

}  // namespace takt::analysis
