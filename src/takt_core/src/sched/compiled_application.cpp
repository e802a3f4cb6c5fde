// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/compiled_application.hpp"

#include <algorithm>
#include <utility>

namespace takt::sched {
namespace {

Level watch_level(const Policy& policy, TaskParameters parameters, nanoseconds jitter) {
  parameters.priority = highest_priority_of(parameters);
  const nanoseconds deadline = relative_deadline(parameters);
  if (jitter.count() > 0 && deadline.count() > 0) {
    parameters.deadline = std::max(deadline - jitter, nanoseconds{1});
  }
  return policy.preemption_level(parameters).value_or(0);
}

Roster make_roster(const CompiledStrategy& strategy, const CompiledScenario& scenario,
                   const std::vector<TaskIndex>& tasks) {
  std::vector<std::pair<Level, TaskIndex>> order;
  order.reserve(tasks.size());
  const Ceilings& ceilings = scenario.ceilings();
  for (const TaskIndex task : tasks) {
    Level level = 0;
    if (ceilings.has_levels()) {
      level = ceilings.may_be_early(task)
                  ? infinite_ceiling
                  : watch_level(scenario.policy(), scenario.parameters(task),
                                strategy.tasks()[task].jitter);
    }
    order.emplace_back(level, task);
  }
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  Roster roster;
  for (const auto& [level, task] : order) {
    roster.tasks.push_back(task);
    roster.levels.push_back(level);
  }
  return roster;
}

void add_ages(Target& target, std::size_t tasks,
              const std::function<Topic*(const std::string&)>& topic_of) {
  target.by_reader.resize(tasks);
  target.by_source.resize(tasks);
  target.limits.resize(tasks);
  for (const AgeConstraint& constraint : target.scenario->age_constraints()) {
    target.limits[constraint.reader].push_back(
        {.topic = topic_of(constraint.topic), .max_age = constraint.max_age});
    if (!constraint.needs_early_release()) {
      continue;
    }
    target.watches.push_back(std::make_unique<AgeWatch>());
    AgeWatch* watch = target.watches.back().get();
    watch->constraint = &constraint;
    target.by_reader[constraint.reader].push_back(watch);
    target.by_source[*constraint.source].push_back(watch);
  }
}

}  // namespace

std::size_t Roster::count_above(Level level) const noexcept {
  if (levels.empty() || levels.front() <= level) {  // as a rule, of the most urgent job
    return 0;
  }
  const auto end = std::ranges::partition_point(
      levels, [level](const Level candidate) { return candidate > level; });
  return static_cast<std::size_t>(end - levels.begin());
}

std::unique_ptr<CompiledApplication> compile_application(
    CompiledStrategy strategy, std::uint64_t version, std::span<const std::vector<TaskIndex>> cores,
    const std::function<Topic*(const std::string&)>& topic_of) {
  auto compiled = std::make_unique<CompiledApplication>(std::move(strategy));
  compiled->version = version;
  for (const CompiledScenario& scenario : compiled->strategy.scenarios()) {
    auto target = std::make_unique<Target>();
    target->scenario = &scenario;
    target->version = version;
    target->id = static_cast<std::uint16_t>(compiled->targets.size());
    for (const std::vector<TaskIndex>& tasks : cores) {
      target->rosters.push_back(make_roster(compiled->strategy, scenario, tasks));
    }
    add_ages(*target, compiled->strategy.tasks().size(), topic_of);
    compiled->targets.push_back(std::move(target));
  }
  return compiled;
}

}  // namespace takt::sched
