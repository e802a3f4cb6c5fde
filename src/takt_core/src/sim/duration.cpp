// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>

#include "takt/os/saturating.hpp"
#include "takt/sched/error.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::sim {
namespace {

constexpr std::chrono::seconds longest_default{60};

struct Releases {
  std::vector<std::int64_t> periods;
  std::int64_t largest_offset = 0;
};

Releases releases_of(const application::Application& application,
                     const sched::SchedulingScenario* scenario) {
  Releases result;
  for (const application::Callback& callback : application.callbacks) {
    sched::TaskParameters parameters = callback.task.parameters;
    if (scenario != nullptr) {
      const auto change =
          std::ranges::find(scenario->tasks(), callback.task.name, &sched::TaskChange::task);
      if (change != scenario->tasks().end()) {
        parameters.period = change->period.value_or(parameters.period);
        parameters.offset = change->offset.value_or(parameters.offset);
        parameters.active = change->active.value_or(parameters.active);
      }
    }
    if (callback.task.kind == sched::TaskKind::timer && parameters.active &&
        parameters.period.count() > 0) {
      result.periods.push_back(parameters.period.count());
      result.largest_offset = std::max(result.largest_offset, parameters.offset.count());
    }
  }
  for (const application::Topic& topic : application.topics) {
    if (topic.external && topic.external_period.count() > 0) {
      result.periods.push_back(topic.external_period.count());
    }
  }
  return result;
}

std::optional<nanoseconds> common_multiple(const std::vector<std::int64_t>& periods) {
  std::int64_t multiple = 1;
  for (const std::int64_t period : periods) {
    const std::int64_t factor = period / std::gcd(multiple, period);
    if (multiple > std::numeric_limits<std::int64_t>::max() / factor) {
      return {};
    }
    multiple *= factor;
  }
  return periods.empty() ? std::nullopt : std::optional{nanoseconds{multiple}};
}

}  // namespace

std::optional<nanoseconds> hyperperiod(const application::Application& application) {
  const auto* const first =
      application.strategy
          ? application.strategy->scenarios()[application.strategy->default_scenario()].get()
          : nullptr;
  return common_multiple(releases_of(application, first).periods);
}

DefaultDuration default_duration(const application::Application& application) {
  std::vector<const sched::SchedulingScenario*> scenarios;
  if (application.strategy) {
    for (const sched::ScenarioPtr& scenario : application.strategy->scenarios()) {
      scenarios.push_back(scenario.get());
    }
  } else {
    scenarios.push_back(nullptr);
  }
  const nanoseconds longest{longest_default};
  nanoseconds time{0};
  bool cut = false;
  for (const sched::SchedulingScenario* const scenario : scenarios) {
    const Releases releases = releases_of(application, scenario);
    if (releases.periods.empty()) {
      continue;
    }
    const auto hyperperiod = common_multiple(releases.periods);
    const bool fits = hyperperiod && *hyperperiod <= longest / 2;
    cut = cut || !fits;
    time = std::max(
        time, fits ? os::add_sat(2 * *hyperperiod, nanoseconds{releases.largest_offset}) : longest);
  }
  if (time.count() == 0) {
    throw sched::ScheduleError("the application",
                               "nothing is ever released: it has neither an active timer nor an "
                               "external topic with a period",
                               "add a timer, or give the external topic a period");
  }
  const nanoseconds last =
      application.switches.empty() ? nanoseconds{0} : application.switches.back().at;
  if (cut || time > longest - std::min(last, longest)) {
    return {.time = longest, .reason = "60 s"};
  }
  return {.time = last + time,
          .reason = last.count() == 0 ? "two hyperperiods and the largest offset"
                                      : "the last switch, two hyperperiods and the largest offset"};
}

}  // namespace takt::sim
