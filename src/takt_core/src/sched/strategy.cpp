// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/strategy.hpp"

#include <algorithm>
#include <utility>

#include "takt/sched/error.hpp"
#include "text.hpp"

namespace takt::sched {

SchedulingStrategy& SchedulingStrategy::add_scenario(ScenarioPtr scenario) {
  if (!scenario) {
    throw ScheduleError("strategy", "a scenario is null", "add scenarios that exist");
  }
  if (find(scenario->name())) {
    throw ScheduleError("scenario " + name_text(scenario->name()),
                        "the strategy already has a scenario of this name",
                        "give each scenario a name of its own");
  }
  scenarios_.push_back(std::move(scenario));
  return *this;
}

SchedulingStrategy& SchedulingStrategy::add_scenario(SchedulingScenario scenario) {
  return add_scenario(std::make_shared<const SchedulingScenario>(std::move(scenario)));
}

SchedulingStrategy& SchedulingStrategy::set_default_scenario(std::string_view name) {
  const auto index = find(name);
  if (!index) {
    std::vector<std::string_view> names;
    names.reserve(scenarios_.size());
    for (const ScenarioPtr& scenario : scenarios_) {
      names.push_back(scenario->name());
    }
    throw ScheduleError("scenario " + name_text(name), "the strategy has no such scenario",
                        fix_text(name, names));
  }
  default_ = *index;
  return *this;
}

SchedulingStrategy& SchedulingStrategy::allow_absent_tasks() noexcept {
  absent_tasks_ = true;
  return *this;
}

std::optional<std::size_t> SchedulingStrategy::find(std::string_view name) const noexcept {
  const auto scenario = std::ranges::find_if(
      scenarios_, [name](const ScenarioPtr& candidate) { return candidate->name() == name; });
  if (scenario == scenarios_.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(scenario - scenarios_.begin());
}

}  // namespace takt::sched
