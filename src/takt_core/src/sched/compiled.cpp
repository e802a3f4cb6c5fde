// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/compiled.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "change.hpp"
#include "takt/os/saturating.hpp"
#include "takt/sched/error.hpp"
#include "text.hpp"

namespace takt::sched {
namespace {

template <class Value>
void set_if(Value& value, const std::optional<Value>& change) {
  value = change.value_or(value);
}

std::vector<Task>::iterator find_named(std::vector<Task>& tasks, std::string_view name) {
  return std::ranges::find_if(tasks,
                              [name](const Task& candidate) { return candidate.name == name; });
}

std::vector<Task> merge(std::vector<Task> tasks, const SchedulingScenario& scenario,
                        bool allows_absent_tasks) {
  for (const TaskChange& change : scenario.tasks()) {
    const auto task = find_named(tasks, change.task);
    if (task == tasks.end() && allows_absent_tasks) {
      continue;
    }
    if (task == tasks.end()) {
      std::vector<std::string_view> names;
      names.reserve(tasks.size());
      for (const Task& candidate : tasks) {
        names.push_back(candidate.name);
      }
      throw ScheduleError("scenario " + name_text(scenario.name()),
                          "it names task " + name_text(change.task) + ", which does not exist",
                          fix_text(change.task, names));
    }
    apply(*task, change);
  }
  return tasks;
}

// Puts the scenario in front of what is refused in it.
TaskSet checked(const std::string& scenario, std::vector<Task> tasks, const Policy& policy,
                std::span<const std::string> external_topics) {
  try {
    return {std::move(tasks), policy, external_topics};
  } catch (const ScheduleError& error) {
    throw ScheduleError("scenario " + name_text(scenario) + ", " + error.where(), error.problem(),
                        error.fix());
  }
}

}  // namespace

void apply(Task& task, const TaskChange& change) {
  TaskParameters& parameters = task.parameters;
  set_if(parameters.priority, change.priority);
  set_if(parameters.period, change.period);
  set_if(parameters.offset, change.offset);
  set_if(parameters.deadline, change.deadline);
  set_if(parameters.expected_execution, change.expected_execution);
  set_if(parameters.budget, change.budget);
  set_if(parameters.overrun, change.overrun);
  set_if(parameters.active, change.active);
  add_topics(task, change);
  for (const Read& read : change.reads) {
    if (read.max_age.count() != 0) {
      std::ranges::find(task.reads, read.topic, &Read::topic)->max_age = read.max_age;
    }
  }
}

CompiledScenario::CompiledScenario(std::string name, PolicyPtr policy, const TaskSet& set)
    : name_(std::move(name)),
      policy_(std::move(policy)),
      ages_(set.age_constraints()),
      ceilings_(set.tasks(), *policy_, ages_) {
  parameters_.reserve(set.tasks().size());
  for (const Task& task : set.tasks()) {
    parameters_.push_back(task.parameters);
    parameters_.back().active = task.parameters.active && !task.paused;
  }
  first_age_.assign(parameters_.size() + 1, 0);
  for (const AgeConstraint& age : ages_) {
    ++first_age_[age.reader + 1];
  }
  for (std::size_t i = 1; i < first_age_.size(); ++i) {
    first_age_[i] += first_age_[i - 1];
  }
}

std::span<const AgeConstraint> CompiledScenario::age_constraints(TaskIndex reader) const noexcept {
  const std::size_t first = first_age_[reader];
  return std::span{ages_}.subspan(first, first_age_[reader + 1] - first);
}

Job CompiledScenario::job(TaskIndex task, std::uint64_t index, TimePoint release) const noexcept {
  const TaskParameters& parameters = parameters_[task];
  const nanoseconds relative = relative_deadline(parameters);
  return {.task = task,
          .priority = parameters.priority,
          .index = index,
          .release = release,
          .deadline = relative.count() == 0 ? TimePoint::max() : os::add_sat(release, relative),
          .period = parameters.period,
          .expected_execution = parameters.expected_execution};
}

CompiledStrategy::CompiledStrategy(std::vector<Task> tasks, const PolicyPtr& policy,
                                   const CompileOptions& options)
    : tasks_(std::move(tasks)) {
  if (!policy) {
    throw ScheduleError("executor", "its policy is null", "pass a policy such as edf()");
  }
  const TaskSet set{tasks_, *policy, options.external_topics};
  place_tasks({set}, options.cpus);
  scenarios_.emplace_back("default", policy, set);
}

CompiledStrategy::CompiledStrategy(std::vector<Task> tasks, const SchedulingStrategy& strategy,
                                   const PolicyPtr& policy, const CompileOptions& options)
    : tasks_(std::move(tasks)), default_(strategy.default_scenario()) {
  if (strategy.scenarios().empty()) {
    throw ScheduleError("strategy", "it has no scenarios", "add at least one");
  }
  std::vector<TaskSet> sets;
  for (const ScenarioPtr& scenario : strategy.scenarios()) {
    const PolicyPtr& used = scenario->policy() ? scenario->policy() : policy;
    if (!used) {
      throw ScheduleError("scenario " + name_text(scenario->name()),
                          "neither it nor the executor has a policy",
                          "pass one to set_scheduling_policy(), such as edf()");
    }
    sets.push_back(checked(scenario->name(),
                           merge(tasks_, *scenario, strategy.allows_absent_tasks()), *used,
                           options.external_topics));
    scenarios_.emplace_back(scenario->name(), used, sets.back());
  }
  for (const ScenarioPtr& scenario : strategy.scenarios()) {
    for (const TaskChange& change : scenario->tasks()) {
      const auto task = find_named(tasks_, change.task);
      if (task != tasks_.end()) {  // else merge() let it pass
        add_topics(*task, change);
      }
    }
  }
  place_tasks(sets, options.cpus);
}

void CompiledStrategy::place_tasks(const std::vector<TaskSet>& sets, std::span<const int> cpus) {
  std::vector<double> utilizations(tasks_.size(), 0);
  for (const TaskSet& set : sets) {
    for (std::size_t i = 0; i < utilizations.size(); ++i) {
      utilizations[i] = std::max(utilizations[i], utilization(set.tasks()[i].parameters));
    }
  }
  cores_ = place(tasks_, utilizations, cpus);
  for (const Core& core : cores_) {
    for (const TaskIndex task : core.tasks) {
      tasks_[task].cpu = core.cpu;
    }
  }
}

std::optional<std::size_t> CompiledStrategy::find_scenario(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < scenarios_.size(); ++i) {
    if (scenarios_[i].name() == name) {
      return i;
    }
  }
  return std::nullopt;
}

std::optional<TaskIndex> CompiledStrategy::find_task(std::string_view name) const noexcept {
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (tasks_[i].name == name) {
      return static_cast<TaskIndex>(i);
    }
  }
  return std::nullopt;
}

std::vector<int> CompiledStrategy::priorities(const Core& core) const {
  std::set<int> priorities;
  for (const CompiledScenario& scenario : scenarios_) {
    for (const TaskIndex task : core.tasks) {
      priorities.insert(scenario.parameters(task).priority);
      priorities.insert(highest_priority_of(scenario.parameters(task)));
    }
  }
  return {priorities.begin(), priorities.end()};
}

// A job keeps the level of its release across switches, and preempts only lower ones. So there is
// one for each level that any scenario has, and those that count each, as in Ceilings::depth().
std::size_t CompiledStrategy::depth(const Core& core) const {
  std::set<Level> levels;
  std::size_t apart = 0;
  for (const TaskIndex task : core.tasks) {
    const bool counts = std::ranges::any_of(scenarios_, [&](const CompiledScenario& scenario) {
      const Ceilings& ceilings = scenario.ceilings();
      return !ceilings.has_levels() || ceilings.may_be_early(task) ||
             ceilings.boosted_level(task) != ceilings.level(task);
    });
    if (counts || tasks_[task].jitter.count() > 0) {
      ++apart;
      continue;
    }
    for (const CompiledScenario& scenario : scenarios_) {
      levels.insert(scenario.ceilings().level(task));
    }
  }
  return std::min(levels.size() + apart, core.tasks.size());
}

}  // namespace takt::sched
