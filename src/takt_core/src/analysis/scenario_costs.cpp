// SPDX-License-Identifier: Apache-2.0
//
// What a job of each callback of a scenario costs, with what surrounds it.
#include <algorithm>
#include <string>

#include "takt/analysis/scenario_model.hpp"
#include "threads.hpp"

namespace takt::analysis {
namespace {

using sched::TaskParameters;

// Each time that it finds a lock held, two jobs leave the core.
nanoseconds waits_for_locks(const application::Application& application,
                            const application::Callback& callback) {
  return 2 * static_cast<std::int64_t>(callback.critical_sections.size()) *
         application.overheads.preemption;
}

// Of a scenario in which the worst case is `worst`: all times change in proportion.
nanoseconds best_execution(const application::ExecutionTime& execution, nanoseconds worst) {
  nanoseconds best = execution.best;
  if (!execution.quantiles.empty()) {
    best = std::min(best, execution.quantiles.front());
  }
  if (worst < execution.worst) {
    best = nanoseconds{static_cast<std::int64_t>(static_cast<double>(best.count()) *
                                                 static_cast<double>(worst.count()) /
                                                 static_cast<double>(execution.worst.count()))};
  }
  return best;
}

// All declared waits of a job; of the response to a call nothing is known here.
nanoseconds shortest_waits(const application::Callback& callback) {
  nanoseconds sum{0};
  for (std::size_t i = 1; i < callback.segments.size(); i += 2) {
    sum += callback.segments[i].shortest;
  }
  return sum;
}

}  // namespace

// A job that goes on after each wait may preempt somebody each time.
void ScenarioModel::note_uncounted_waits(const application::Application& application) {
  if (application.overheads.preemption.count() == 0) {
    return;
  }
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    const application::Callback& callback = application.callbacks[streams_[stream].callback];
    if (callback.suspension.count() == 0 || callback.suspensions > 0) {
      continue;
    }
    CoreDemands& core = cores_[core_of(stream)];
    core.entangled = true;
    std::string remark = "how often '" + callback.task.name +
                         "' waits in a job is not declared, and each time costs a preemption: "
                         "nothing is proved on core " +
                         std::to_string(core.cpu) + ". Give its suspensions";
    if (std::ranges::find(remarks_, remark) == remarks_.end()) {
      remarks_.push_back(std::move(remark));
    }
  }
}

void ScenarioModel::add_costs(const application::Application& application) {
  const bool threads = has_several_threads(application, *scenario_);
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    const application::Callback& callback = application.callbacks[i];
    const TaskParameters& parameters = scenario_->parameters(static_cast<sched::TaskIndex>(i));
    jitters_.push_back(callback.jitter);
    waits_for_job_.push_back(false);
    // A scenario may declare another execution time; what surrounds it stays.
    costs_.push_back({.best = best_execution(callback.execution, parameters.expected_execution),
                      .worst = parameters.expected_execution,
                      .around = application.worst_overhead(callback, strategy_->tasks()[i]) +
                                // Where it is boosted it comes before one more.
                                (parameters.boosted_priority > parameters.priority
                                     ? application.overheads.preemption
                                     : nanoseconds{0}) +
                                waits_for_locks(application, callback) +
                                (threads ? application.overheads.release : nanoseconds{0}) +
                                // Until it begins to compute, which counts as a part of it.
                                declared_for(application, strategy_->tasks()[i].cpu).latency,
                      .waits = shortest_waits(callback),
                      .anywhere = callback.publishes_anywhere});
    const application::Topic* const topic = application.find_topic(callback.task.trigger);
    queues_.push_back(topic == nullptr ? 1 : topic->depth);
  }
}

}  // namespace takt::analysis
