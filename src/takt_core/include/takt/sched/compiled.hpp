// SPDX-License-Identifier: Apache-2.0
//
// A compiled scenario is all that deciding needs, in tables by task index: checked parameters with
// final priorities, policy, levels, ceilings. Everything is allocated here, before the executor
// spins, so that switching the scenario is switching one index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "takt/sched/placement.hpp"
#include "takt/sched/srp.hpp"
#include "takt/sched/strategy.hpp"
#include "takt/sched/task_set.hpp"
#include "takt/visibility.hpp"

namespace takt::sched {

class TAKT_CORE_PUBLIC CompiledScenario {
 public:
  CompiledScenario(std::string name, PolicyPtr policy, const TaskSet& set);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const Policy& policy() const noexcept { return *policy_; }
  [[nodiscard]] const Ceilings& ceilings() const noexcept { return ceilings_; }
  [[nodiscard]] const TaskParameters& parameters(TaskIndex task) const noexcept {
    return parameters_[task];
  }
  [[nodiscard]] std::span<const TaskParameters> parameters() const noexcept { return parameters_; }
  [[nodiscard]] std::span<const AgeConstraint> age_constraints() const noexcept { return ages_; }

  // The constraints on the data that this task reads.
  [[nodiscard]] std::span<const AgeConstraint> age_constraints(TaskIndex reader) const noexcept;

  // A job of the task under these parameters. A task without period and deadline (released by
  // messages) has its deadline at the end of time.
  [[nodiscard]] Job job(TaskIndex task, std::uint64_t index, TimePoint release) const noexcept;

 private:
  std::string name_;
  PolicyPtr policy_;
  std::vector<TaskParameters> parameters_;
  std::vector<AgeConstraint> ages_;     // by reader
  std::vector<std::size_t> first_age_;  // of each reader, and the end
  Ceilings ceilings_;
};

struct CompileOptions {
  std::vector<int> cpus = {0};
  std::vector<std::string> external_topics = {};
};

// An application: its tasks, where they run, and its compiled scenarios. What does not change with
// the scenario (names, groups, cores, all topics of any scenario) is in tasks(); what does is in
// the scenarios.
class TAKT_CORE_PUBLIC CompiledStrategy {
 public:
  // One scenario, named "default", with the parameters as the tasks declare them.
  CompiledStrategy(std::vector<Task> tasks, const PolicyPtr& policy,
                   const CompileOptions& options = {});

  // All scenarios of the strategy, over the tasks as they declare themselves. `policy` is that of
  // scenarios without one. Throws ScheduleError for a strategy without scenarios, a scenario that
  // names an unknown task where the strategy does not allow that, and everything that a task set
  // refuses, with the scenario's name. Cores are assigned by the heaviest scenario of each task,
  // and hold for all of them.
  CompiledStrategy(std::vector<Task> tasks, const SchedulingStrategy& strategy,
                   const PolicyPtr& policy, const CompileOptions& options = {});

  [[nodiscard]] std::span<const Task> tasks() const noexcept { return tasks_; }
  [[nodiscard]] std::span<const Core> cores() const noexcept { return cores_; }
  [[nodiscard]] std::span<const CompiledScenario> scenarios() const noexcept { return scenarios_; }
  [[nodiscard]] std::size_t default_scenario() const noexcept { return default_; }

  // Neither allocates.
  [[nodiscard]] std::optional<std::size_t> find_scenario(std::string_view name) const noexcept;
  [[nodiscard]] std::optional<TaskIndex> find_task(std::string_view name) const noexcept;

  // All priorities that tasks of this core have in some scenario, ascending, without repetition.
  [[nodiscard]] std::vector<int> priorities(const Core& core) const;

  // The most jobs that can be started at once on this core, over all scenarios.
  [[nodiscard]] std::size_t depth(const Core& core) const;

 private:
  void place_tasks(const std::vector<TaskSet>& sets, std::span<const int> cpus);

  std::vector<Task> tasks_;
  std::vector<Core> cores_;
  std::vector<CompiledScenario> scenarios_;
  std::size_t default_ = 0;
};

}  // namespace takt::sched
