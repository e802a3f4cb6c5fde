// SPDX-License-Identifier: Apache-2.0
#include "by_simulation.hpp"

#include <algorithm>

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

// All start together, nothing is late, and each job computes for as long as any other one. What
// overheads a job pays depends on who runs when.
bool nothing_varies(const application::Application& application) {
  return !application.overheads.any() &&
         std::ranges::all_of(application.callbacks, [](const application::Callback& callback) {
           const application::Execution& execution = callback.execution;
           const sched::Task& task = callback.task;
           return task.kind == sched::TaskKind::timer && execution.best == execution.worst &&
                  (execution.quantiles.empty() ||
                   (execution.quantiles.front() == execution.worst &&
                    execution.quantiles.back() == execution.worst)) &&
                  callback.jitter.count() == 0 && task.parameters.offset.count() == 0;
         });
}

}  // namespace

std::optional<Simulated> run_once(const application::Application& application,
                                  const sched::CompiledStrategy& strategy,
                                  const sched::CompiledScenario& scenario) {
  const application::Application played = one_scenario(application, strategy, scenario);
  const auto hyperperiod = sim::hyperperiod(played);
  if (!hyperperiod) {
    return {};
  }
  const nanoseconds duration = sim::default_duration(played).time;
  if (jobs_in(played, duration) > most_jobs) {
    return {};
  }
  const sim::Result result = sim::simulate(played, {.duration = duration, .percentiles = false});
  Simulated simulated{.callbacks = {}, .duration = duration};
  for (const sim::CallbackResult& callback : result.callbacks) {
    simulated.callbacks.push_back(
        {.longest = callback.response.max, .missed = callback.misses > 0});
  }
  simulated.only_run =
      nothing_varies(played) && duration >= *hyperperiod && scenario.age_constraints().empty();
  return simulated;
}

}  // namespace takt::analysis
