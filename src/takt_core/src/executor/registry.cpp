// SPDX-License-Identifier: Apache-2.0
#include "registry.hpp"

#include <algorithm>

#include "takt/os/thread.hpp"
#include "takt/sched/error.hpp"

namespace takt::executor {
namespace {

std::string where(const sched::Task& task) {
  return "task '" + task.name + "'";
}

}  // namespace

void check_binding(const sched::Task& task, const Binding& binding) {
  if (static_cast<bool>(binding.callback) == (binding.source != nullptr)) {
    throw sched::ScheduleError(
        where(task),
        binding.source ? "it has both a callback and a source of jobs" : "it has no callback",
        "give it one or the other");
  }
  if (binding.first_release && task.kind != sched::TaskKind::timer) {
    throw sched::ScheduleError(where(task), "it has a first release, but messages release it",
                               "leave first_release out");
  }
  for (const BoundInput& bound : binding.inputs) {
    const bool reads = std::ranges::any_of(
        task.reads, [&](const sched::Read& read) { return read.topic == bound.topic; });
    if (!reads || !bound.input) {
      throw sched::ScheduleError(where(task),
                                 "it has an input of topic '" + bound.topic + "', " +
                                     (reads ? "which is null" : "which it does not read"),
                                 reads ? "give the input" : "add the topic to what it reads");
    }
  }
  if (task.kind == sched::TaskKind::message && binding.queue == 0) {
    throw sched::ScheduleError(where(task), "its queue has no room for an arrival",
                               "give the queue a size of at least 1");
  }
  if (!binding.kernel_deadline) {
    return;
  }
  if (task.kind != sched::TaskKind::timer) {
    throw sched::ScheduleError(where(task), "SCHED_DEADLINE needs a period, and messages have none",
                               "let a timer read the topic, or leave the task to the policy");
  }
  if (!task.group.empty()) {
    throw sched::ScheduleError(
        where(task),
        "it is in group '" + task.group + "', and under SCHED_DEADLINE it would have no ceiling",
        "take it out of the group, or leave it to the policy");
  }
  if (task.parameters.budget.count() == 0 && task.parameters.expected_execution.count() == 0) {
    throw sched::ScheduleError(where(task),
                               "SCHED_DEADLINE needs to know how much CPU time to reserve",
                               "give the task a budget or an expected execution time");
  }
}

sched::Task vacancy_of(TaskIndex index) {
  sched::Task vacant;
  vacant.name = "(removed " + std::to_string(index) + ")";
  // What no policy refuses.
  vacant.parameters.period = std::chrono::milliseconds{1};
  vacant.parameters.expected_execution = std::chrono::nanoseconds{1};
  vacant.parameters.priority = os::min_priority;
  vacant.parameters.active = false;
  vacant.vacant = true;
  return vacant;
}

TaskIndex Executor::Registry::index_of(std::string_view name) const {
  const auto found = by_name.find(name);
  if (found == by_name.end()) {
    throw sched::ScheduleError("task '" + std::string{name} + "'", "there is no such task",
                               "name a task as it was named when it was added");
  }
  return found->second;
}

std::uint32_t Executor::Registry::group(const std::string& name) {
  const auto [entry, is_new] = groups_.try_emplace(name, last_group_ + 1);
  if (is_new) {
    ++last_group_;
  }
  return entry->second;
}

void Executor::Registry::forget_other_groups(const std::vector<std::uint32_t>& used) {
  std::erase_if(groups_, [&used](const auto& entry) {
    return !std::ranges::binary_search(used, entry.second);
  });
}

Topic* Executor::Registry::topic(const std::string& name) {
  const std::lock_guard lock{topics_mutex_};
  const auto [entry, is_new] = topics_by_name_.try_emplace(name, nullptr);
  if (is_new) {
    Topic& topic = topics_.emplace_back();
    topic.name = name;
    topic.id = static_cast<std::uint16_t>(topics_.size() - 1);
    entry->second = &topic;
  }
  return entry->second;
}

std::vector<const Topic*> Executor::Registry::topics() const {
  const std::lock_guard lock{topics_mutex_};
  std::vector<const Topic*> result;
  result.reserve(topics_.size());
  for (const Topic& topic : topics_) {
    result.push_back(&topic);
  }
  return result;
}

}  // namespace takt::executor
