// SPDX-License-Identifier: Apache-2.0
#include "one_scenario.hpp"

#include "../application/worst_times.hpp"

namespace takt::analysis {
namespace {

// What the callback reads and writes in this scenario.
void set_topics(sched::Task& task, const application::Application& application,
                const application::Callback& callback, const std::string& scenario) {
  task.reads = callback.task.reads;
  task.writes = callback.task.writes;
  if (!application.strategy) {
    return;
  }
  for (const sched::ScenarioPtr& one : application.strategy->scenarios()) {
    for (const sched::TaskChange& change : one->tasks()) {
      if (one->name() == scenario && change.task == task.name) {
        sched::add_topics(task, change);
      }
    }
  }
}

}  // namespace

application::Application one_scenario(const application::Application& application,
                                      const sched::CompiledStrategy& strategy,
                                      const sched::CompiledScenario& scenario, Topics topics) {
  application::Application result = application;
  result.strategy.reset();
  result.switches.clear();
  result.policy = scenario.policy().name();
  for (std::size_t i = 0; i < result.callbacks.size(); ++i) {
    application::Callback& callback = result.callbacks[i];
    const auto& parameters = scenario.parameters(static_cast<sched::TaskIndex>(i));
    application::set_worst(callback.execution, parameters.expected_execution);
    callback.task = strategy.tasks()[i];
    if (topics == Topics::own) {
      set_topics(callback.task, application, application.callbacks[i], scenario.name());
    }
    callback.task.parameters = parameters;
  }
  for (const sched::AgeConstraint& age : scenario.age_constraints()) {
    for (sched::Read& read : result.callbacks[age.reader].task.reads) {
      if (read.topic == age.topic) {
        read.max_age = age.max_age;
      }
    }
  }
  return result;
}

}  // namespace takt::analysis
