// SPDX-License-Identifier: Apache-2.0
/// @file
/// A strategy: the scenarios of an application, and the one that it starts with.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/sched/scenario.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

/// Scenarios may be shared between strategies.
using ScenarioPtr = std::shared_ptr<const SchedulingScenario>;

/// A list of scenarios; named as in Krukiewicz-Gacek (2021), Appendix A.
class TAKT_CORE_PUBLIC SchedulingStrategy {
 public:
  /// Adds a scenario.
  /// @throws ScheduleError if it is null or its name is in use.
  SchedulingStrategy& add_scenario(ScenarioPtr scenario);

  /// Adds a scenario.
  /// @throws ScheduleError if its name is in use.
  SchedulingStrategy& add_scenario(SchedulingScenario scenario);

  /// Sets the scenario to start with; without a call it is the first one added.
  /// @throws ScheduleError, with the nearest name, if there is no such scenario.
  SchedulingStrategy& set_default_scenario(std::string_view name);

  /// For applications whose tasks come and go: a scenario may name tasks that do not exist, and its
  /// parameters hold while they do. Without a call, names of unknown tasks are refused.
  SchedulingStrategy& allow_absent_tasks() noexcept;

  /// Index of the scenario to start with.
  [[nodiscard]] std::size_t default_scenario() const noexcept { return default_; }

  /// In the order of their addition.
  [[nodiscard]] const std::vector<ScenarioPtr>& scenarios() const noexcept { return scenarios_; }

  /// Whether allow_absent_tasks() was called.
  [[nodiscard]] bool allows_absent_tasks() const noexcept { return absent_tasks_; }

  /// The index of the scenario of that name; nothing if there is none.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept;

 private:
  std::vector<ScenarioPtr> scenarios_;
  std::size_t default_ = 0;
  bool absent_tasks_ = false;
};

}  // namespace takt::sched
