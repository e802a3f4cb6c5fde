// SPDX-License-Identifier: Apache-2.0
#include "one_scenario.hpp"

#include <algorithm>
#include <chrono>

namespace takt::analysis {

using std::chrono::nanoseconds;

application::Application one_scenario(const application::Application& application,
                                      const sched::CompiledStrategy& strategy,
                                      const sched::CompiledScenario& scenario) {
  application::Application result = application;
  result.strategy.reset();
  result.switches.clear();
  result.policy = scenario.policy().name();
  for (std::size_t i = 0; i < result.callbacks.size(); ++i) {
    application::Callback& callback = result.callbacks[i];
    const auto& parameters = scenario.parameters(static_cast<sched::TaskIndex>(i));
    // Another worst case means that all times change in proportion.
    application::ExecutionTime& execution = callback.execution;
    const nanoseconds worst = parameters.expected_execution;
    if (worst != execution.worst && execution.worst.count() > 0) {
      const double factor =
          static_cast<double>(worst.count()) / static_cast<double>(execution.worst.count());
      const auto change = [factor](nanoseconds& time) {
        time = nanoseconds{static_cast<std::int64_t>(static_cast<double>(time.count()) * factor)};
      };
      change(execution.best);
      std::ranges::for_each(execution.quantiles, change);
    }
    execution.best = std::min(execution.best, worst);
    execution.worst = worst;
    callback.task = strategy.tasks()[i];
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
