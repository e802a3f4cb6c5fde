// SPDX-License-Identifier: Apache-2.0
/// @file
/// A compiled scenario contains everything that decisions need, in tables by task index: checked
/// parameters with final priorities, policy, levels and ceilings. All memory is allocated here,
/// before the executor spins, so that switching the scenario means switching one index.
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

/// The tables of one scenario. Immutable, so any thread may read it.
class TAKT_CORE_PUBLIC CompiledScenario {
 public:
  /// Computes the tables from a checked task set. `policy` must not be null.
  CompiledScenario(std::string name, PolicyPtr policy, const TaskSet& set);

  /// As in SchedulingScenario; "default" without a strategy.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// The scenario's own policy, or that of the executor.
  [[nodiscard]] const Policy& policy() const noexcept { return *policy_; }

  /// Levels and ceilings of all tasks.
  [[nodiscard]] const Ceilings& ceilings() const noexcept { return ceilings_; }

  /// The parameters of one task in this scenario.
  [[nodiscard]] const TaskParameters& parameters(TaskIndex task) const noexcept {
    return parameters_[task];
  }

  /// The parameters of all tasks, by index.
  [[nodiscard]] std::span<const TaskParameters> parameters() const noexcept { return parameters_; }

  /// All constraints on the age of data, grouped by reader.
  [[nodiscard]] std::span<const AgeConstraint> age_constraints() const noexcept { return ages_; }

  /// The constraints on the data that one task reads.
  [[nodiscard]] std::span<const AgeConstraint> age_constraints(TaskIndex reader) const noexcept;

  /// A job of the task under these parameters. Without period and deadline (released by messages)
  /// its deadline is TimePoint::max().
  [[nodiscard]] Job job(TaskIndex task, std::uint64_t index, TimePoint release) const noexcept;

 private:
  std::string name_;
  PolicyPtr policy_;
  std::vector<TaskParameters> parameters_;
  std::vector<AgeConstraint> ages_;     // by reader
  std::vector<std::size_t> first_age_;  // of each reader, and the end
  Ceilings ceilings_;
};

/// Where tasks run and which topics come from outside.
struct CompileOptions {
  std::vector<int> cpus = {0};  ///< CPUs to place the tasks on; not empty, without repetition.
  std::vector<std::string> external_topics = {};  ///< Topics that no task needs to write.
};

/// An application: its tasks, their cores and its compiled scenarios. tasks() holds what no
/// scenario changes (names, groups, cores, the topics of all scenarios); scenarios() holds the
/// rest. Immutable.
class TAKT_CORE_PUBLIC CompiledStrategy {
 public:
  /// Compiles one scenario, named "default", with the parameters as the tasks declare them.
  /// @throws ScheduleError for tasks that TaskSet or place() refuses.
  CompiledStrategy(std::vector<Task> tasks, const PolicyPtr& policy,
                   const CompileOptions& options = {});

  /// Compiles all scenarios of the strategy on top of the tasks' own declarations. Tasks are placed
  /// on cores by the heaviest scenario of each task, and stay there in all scenarios.
  /// @param tasks the tasks.
  /// @param strategy the scenarios.
  /// @param policy the policy of scenarios that have none.
  /// @param options cores and external topics.
  /// @throws ScheduleError if the strategy has no scenarios, if a scenario names an unknown task
  /// and the strategy does not allow that, and for everything that a task set refuses, with the
  /// scenario's name.
  CompiledStrategy(std::vector<Task> tasks, const SchedulingStrategy& strategy,
                   const PolicyPtr& policy, const CompileOptions& options = {});

  /// The tasks, by index.
  [[nodiscard]] std::span<const Task> tasks() const noexcept { return tasks_; }

  /// The cores with their tasks.
  [[nodiscard]] std::span<const Core> cores() const noexcept { return cores_; }

  /// In the order of the strategy.
  [[nodiscard]] std::span<const CompiledScenario> scenarios() const noexcept { return scenarios_; }

  /// Index of the scenario that is followed first.
  [[nodiscard]] std::size_t default_scenario() const noexcept { return default_; }

  /// The index of the scenario of that name. Allocates nothing.
  [[nodiscard]] std::optional<std::size_t> find_scenario(std::string_view name) const noexcept;

  /// The index of the task of that name. Allocates nothing.
  [[nodiscard]] std::optional<TaskIndex> find_task(std::string_view name) const noexcept;

  /// All priorities that tasks of this core have in any scenario, ascending, without repetition.
  [[nodiscard]] std::vector<int> priorities(const Core& core) const;

  /// The most jobs of this core that can be started at the same time, over all scenarios.
  [[nodiscard]] std::size_t depth(const Core& core) const;

 private:
  void place_tasks(const std::vector<TaskSet>& sets, std::span<const int> cpus);

  std::vector<Task> tasks_;
  std::vector<Core> cores_;
  std::vector<CompiledScenario> scenarios_;
  std::size_t default_ = 0;
};

}  // namespace takt::sched
