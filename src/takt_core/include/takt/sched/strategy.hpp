// SPDX-License-Identifier: Apache-2.0
//
// A strategy: the scenarios of an application, and the one that it starts with.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/sched/scenario.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

using ScenarioPtr = std::shared_ptr<const SchedulingScenario>;

class TAKT_CORE_PUBLIC SchedulingStrategy {
 public:
  // Throws ScheduleError for a null scenario and for a name that is there already.
  SchedulingStrategy& add_scenario(ScenarioPtr scenario);
  SchedulingStrategy& add_scenario(SchedulingScenario scenario);

  // Without a call it is the scenario that was added first. Throws ScheduleError, with the nearest
  // name, when there is no such scenario.
  SchedulingStrategy& set_default_scenario(std::string_view name);

  // For applications whose tasks come and go: what a scenario says of a task holds while the task
  // is there. Without a call a name of no task is refused.
  SchedulingStrategy& allow_absent_tasks() noexcept;

  [[nodiscard]] std::size_t default_scenario() const noexcept { return default_; }
  [[nodiscard]] const std::vector<ScenarioPtr>& scenarios() const noexcept { return scenarios_; }
  [[nodiscard]] bool allows_absent_tasks() const noexcept { return absent_tasks_; }
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;

 private:
  std::vector<ScenarioPtr> scenarios_;
  std::size_t default_ = 0;
  bool absent_tasks_ = false;
};

}  // namespace takt::sched
