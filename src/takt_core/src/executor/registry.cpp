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
  if (!binding.callback) {
    throw sched::ScheduleError(where(task), "it has no callback", "give it one");
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

sched::Task stub_of(const sched::Task& task, TaskIndex index, int priority) {
  sched::Task removed;
  removed.name = "(removed " + std::to_string(index) + ")";
  removed.cpu = task.cpu;
  // What no policy refuses, whatever the task was refused for.
  removed.parameters.period = std::max(task.parameters.period, std::chrono::nanoseconds{1'000'000});
  removed.parameters.expected_execution = std::chrono::nanoseconds{1};
  removed.parameters.priority = std::clamp(priority, os::min_priority, os::max_priority);
  removed.parameters.active = false;
  return removed;
}

}  // namespace takt::executor
