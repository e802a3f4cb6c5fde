// SPDX-License-Identifier: Apache-2.0
/// @file
/// A scenario is a named table of task parameters with a policy: what the application needs of its
/// tasks while it cruises, docks or charges. A strategy contains the scenarios and names the first
/// one. Both are plain descriptions; CompiledStrategy turns them into the tables between which an
/// executor switches.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/sched/policies.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

/// The parameters that a scenario gives to one task. Unset values stay as the task declares them;
/// see TaskParameters for units and ranges.
struct TaskChange {
  std::string task;                                    ///< Name of the task.
  std::optional<int> priority = {};                    ///< 1..98.
  std::optional<nanoseconds> period = {};              ///< TaskParameters::period.
  std::optional<nanoseconds> offset = {};              ///< TaskParameters::offset.
  std::optional<nanoseconds> deadline = {};            ///< TaskParameters::deadline.
  std::optional<nanoseconds> expected_execution = {};  ///< TaskParameters::expected_execution.
  std::optional<nanoseconds> budget = {};              ///< TaskParameters::budget.
  std::optional<Overrun> overrun = {};                 ///< TaskParameters::overrun.
  std::optional<bool> active = {};                     ///< TaskParameters::active.
  /// Additional topics to read; a topic that the task reads already gets this maximum age.
  std::vector<Read> reads = {};
  std::vector<std::string> writes = {};  ///< Additional topics that it publishes.
};

/// Adds the topics of the change to the task, without their maximum ages, which hold in that
/// scenario only.
TAKT_CORE_PUBLIC void add_topics(Task& task, const TaskChange& change);

/// The topics of SchedulingScenario::add_timer().
struct Topics {
  std::vector<std::string> subscribes = {};  ///< Added to Task::reads.
  std::vector<std::string> publishes = {};   ///< Added to Task::writes.
};

/// A scenario; named as in Krukiewicz-Gacek (2021), Appendix A.
class TAKT_CORE_PUBLIC SchedulingScenario {
 public:
  /// An empty scenario.
  /// @throws ScheduleError if the name is empty.
  explicit SchedulingScenario(std::string name);

  /// Sets priority and period of a timer, and adds topics.
  /// @throws ScheduleError if the scenario contains the task already.
  SchedulingScenario& add_timer(std::string id, int priority, nanoseconds period,
                                Topics topics = {});

  /// Sets any parameters of a task.
  /// @throws ScheduleError if the scenario contains the task already.
  SchedulingScenario& add_task(TaskChange change);

  /// Sets the policy; without one the scenario uses the executor's.
  /// @throws ScheduleError if the policy is null.
  SchedulingScenario& set_scheduling_policy(PolicyPtr policy);

  /// Sets a policy with a comparator of the user, see custom().
  /// @throws ScheduleError if the comparator is empty.
  SchedulingScenario& set_scheduling_policy_function(Comparator comparator,
                                                     CustomOptions options = {});

  /// Unique in its strategy.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Null: the executor's policy.
  [[nodiscard]] const PolicyPtr& policy() const noexcept { return policy_; }

  /// In the order of their addition.
  [[nodiscard]] const std::vector<TaskChange>& tasks() const noexcept { return tasks_; }

 private:
  std::string name_;
  PolicyPtr policy_;
  std::vector<TaskChange> tasks_;
};

}  // namespace takt::sched
