// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/srp.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

namespace takt::sched {

Ceilings::Ceilings(std::span<const Task> tasks, const Policy& policy,
                   std::span<const AgeConstraint> ages) {
  tasks_.reserve(tasks.size());
  std::unordered_map<std::string_view, Level> ceilings;
  for (const Task& task : tasks) {
    const std::optional<Level> level = policy.preemption_level(task.parameters);
    has_levels_ = has_levels_ && level.has_value();
    TaskParameters boosted = task.parameters;
    boosted.priority = highest_priority_of(boosted);
    tasks_.push_back({.level = level.value_or(0),
                      .boosted = policy.preemption_level(boosted).value_or(0),
                      .ceiling = no_ceiling,
                      .late = task.jitter.count() > 0,
                      .early = false});
    if (!task.group.empty()) {
      Level& ceiling = ceilings.try_emplace(task.group, no_ceiling).first->second;
      ceiling = std::max(ceiling, tasks_.back().boosted);
    }
  }
  for (const AgeConstraint& age : ages) {
    if (age.needs_early_release() && !policy.fixed_priority()) {
      tasks_[*age.source].early = true;
    }
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    Entry& entry = tasks_[i];
    entry.level = has_levels_ ? entry.level : 0;
    entry.boosted = has_levels_ ? entry.boosted : 0;
    if (!tasks[i].group.empty()) {
      entry.ceiling = has_levels_ ? ceilings.at(tasks[i].group) : infinite_ceiling;
    }
  }
}

bool Ceilings::could_preempt(TaskIndex a, TaskIndex b) const noexcept {
  if (!has_levels_) {
    return a != b && ceiling(b) == no_ceiling;
  }
  return boosted_level(a) > std::max(level(b), ceiling(b));
}

std::size_t Ceilings::depth(std::span<const TaskIndex> tasks) const {
  if (!has_levels_) {
    return tasks.size();
  }
  std::set<Level> levels;
  std::size_t late = 0;
  for (const TaskIndex task : tasks) {
    const Entry& entry = tasks_[task];
    if (entry.late || entry.early || entry.boosted != entry.level) {
      ++late;
    } else {
      levels.insert(level(task));
    }
  }
  return levels.size() + late;
}

}  // namespace takt::sched
