// SPDX-License-Identifier: Apache-2.0
//
// A scenario is a named table of task parameters with a policy: what the application needs of its
// tasks while it cruises, docks, charges. A strategy holds the scenarios and says which one is
// first. Both are plain descriptions; compile() makes the tables that an executor switches between.
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

// What a scenario says about one task. What it leaves open stays as the task declares it.
struct TaskChange {
  std::string task;
  std::optional<int> priority = {};
  std::optional<nanoseconds> period = {};
  std::optional<nanoseconds> offset = {};
  std::optional<nanoseconds> deadline = {};
  std::optional<nanoseconds> expected_execution = {};
  std::optional<nanoseconds> budget = {};
  std::optional<Overrun> overrun = {};
  std::optional<bool> active = {};
  std::vector<Read> reads = {};          // in addition; a topic that the task reads already gets
                                         // this maximum age
  std::vector<std::string> writes = {};  // in addition
};

// Adds to the task the topics that the change adds. The maximum ages of the change are not added:
// they hold while its scenario does.
TAKT_CORE_PUBLIC void add_topics(Task& task, const TaskChange& change);

// The topics of add_timer().
struct Topics {
  std::vector<std::string> subscribes = {};
  std::vector<std::string> publishes = {};
};

class TAKT_CORE_PUBLIC SchedulingScenario {
 public:
  // Throws ScheduleError for an empty name.
  explicit SchedulingScenario(std::string name);

  // Throws ScheduleError for a task that this scenario has already.
  SchedulingScenario& add_timer(std::string id, int priority, nanoseconds period,
                                Topics topics = {});
  SchedulingScenario& add_task(TaskChange change);

  // Without a policy the scenario uses the executor's. Throws ScheduleError for a null policy.
  SchedulingScenario& set_scheduling_policy(PolicyPtr policy);
  SchedulingScenario& set_scheduling_policy_function(Comparator comparator,
                                                     CustomOptions options = {});

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const PolicyPtr& policy() const noexcept { return policy_; }
  [[nodiscard]] const std::vector<TaskChange>& tasks() const noexcept { return tasks_; }

 private:
  std::string name_;
  PolicyPtr policy_;
  std::vector<TaskChange> tasks_;
};

}  // namespace takt::sched
