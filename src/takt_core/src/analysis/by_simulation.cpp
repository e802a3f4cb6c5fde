// SPDX-License-Identifier: Apache-2.0
#include "by_simulation.hpp"

#include "one_scenario.hpp"
#include "takt/sched/error.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

constexpr double most_jobs = 5e6;

double jobs_in(const application::Application& application, nanoseconds duration) {
  double jobs = 0;
  for (const application::Callback& callback : application.callbacks) {
    const nanoseconds period = callback.task.parameters.period;
    if (period.count() > 0) {
      jobs += static_cast<double>(duration.count()) / static_cast<double>(period.count());
    }
  }
  return jobs;
}

}  // namespace

std::vector<bool> missed_in_one_run(const application::Application& application,
                                    const sched::CompiledStrategy& strategy,
                                    const sched::CompiledScenario& scenario) {
  const application::Application played = one_scenario(application, strategy, scenario);
  if (!sim::hyperperiod(played)) {
    return {};
  }
  const nanoseconds duration = sim::default_duration(played).time;
  if (jobs_in(played, duration) > most_jobs) {
    return {};
  }
  const sim::Result result = sim::simulate(played, {.duration = duration, .percentiles = false});
  std::vector<bool> missed;
  missed.reserve(result.callbacks.size());
  for (const sim::CallbackResult& callback : result.callbacks) {
    missed.push_back(callback.misses > 0);
  }
  return missed;
}

}  // namespace takt::analysis
