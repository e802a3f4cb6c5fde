// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/scenario.hpp"

#include <algorithm>

#include "takt/sched/error.hpp"
#include "text.hpp"

namespace takt::sched {

void add_topics(Task& task, const TaskChange& change) {
  for (const Read& read : change.reads) {
    if (std::ranges::find(task.reads, read.topic, &Read::topic) == task.reads.end()) {
      task.reads.push_back({.topic = read.topic});
    }
  }
  for (const std::string& topic : change.writes) {
    if (std::ranges::find(task.writes, topic) == task.writes.end()) {
      task.writes.push_back(topic);
    }
  }
}

SchedulingScenario::SchedulingScenario(std::string name) : name_(std::move(name)) {
  if (name_.empty()) {
    throw ScheduleError("scenario", "it has no name", "give it one: it is switched to by name");
  }
}

SchedulingScenario& SchedulingScenario::add_timer(std::string id, int priority, nanoseconds period,
                                                  Topics topics) {
  TaskChange change{.task = std::move(id), .priority = priority, .period = period};
  for (std::string& topic : topics.subscribes) {
    change.reads.push_back({.topic = std::move(topic)});
  }
  change.writes = std::move(topics.publishes);
  return add_task(std::move(change));
}

SchedulingScenario& SchedulingScenario::add_task(TaskChange change) {
  const bool known = std::ranges::any_of(
      tasks_, [&](const TaskChange& other) { return other.task == change.task; });
  if (known) {
    throw ScheduleError("scenario " + name_text(name_),
                        "it already has task " + name_text(change.task),
                        "add each task once, with all that changes");
  }
  tasks_.push_back(std::move(change));
  return *this;
}

SchedulingScenario& SchedulingScenario::set_scheduling_policy(PolicyPtr policy) {
  if (!policy) {
    throw ScheduleError("scenario " + name_text(name_), "its policy is null",
                        "pass a policy such as edf(), or leave the call out");
  }
  policy_ = std::move(policy);
  return *this;
}

SchedulingScenario& SchedulingScenario::set_scheduling_policy_function(Comparator comparator,
                                                                       CustomOptions options) {
  return set_scheduling_policy(
      custom(name_ + "_policy", std::move(comparator), std::move(options)));
}

}  // namespace takt::sched
