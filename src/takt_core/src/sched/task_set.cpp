// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/task_set.hpp"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include "data_age.hpp"
#include "preparation.hpp"
#include "takt/sched/error.hpp"
#include "text.hpp"

namespace takt::sched {
namespace {

void check_time(const Task& task, const char* name, nanoseconds time) {
  if (time.count() < 0) {
    throw ScheduleError(task_text(task),
                        std::string{"its "} + name + " is negative: " + time_text(time),
                        "give a time of 0 or more");
  }
  if (time > longest_time) {
    throw ScheduleError(task_text(task), std::string{"its "} + name + " is above 100 years",
                        "give a time of at most 100 years; a task that shall never run is made "
                        "inactive");
  }
}

void check_names(const std::vector<Task>& tasks) {
  std::unordered_set<std::string_view> names;
  names.reserve(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].name.empty()) {
      throw ScheduleError("task number " + std::to_string(i + 1), "it has no name",
                          "give it a name of its own, such as 'node.callback'");
    }
    if (!names.insert(tasks[i].name).second) {
      throw ScheduleError(task_text(tasks[i]), "another task has this name",
                          "give each task a name of its own, such as 'node.callback'");
    }
  }
}

void check_parameters(const Task& task) {
  const TaskParameters& parameters = task.parameters;
  check_time(task, "period", parameters.period);
  check_time(task, "offset", parameters.offset);
  check_time(task, "deadline", parameters.deadline);
  check_time(task, "expected execution time", parameters.expected_execution);
  check_time(task, "budget", parameters.budget);
  if (task.kind == TaskKind::timer && parameters.period.count() == 0) {
    throw ScheduleError(task_text(task), "it is a timer and its period is zero",
                        "give it a period above zero, or make it a message task");
  }
  if (parameters.priority != 0 &&
      (parameters.priority < lowest_priority || parameters.priority > highest_priority)) {
    throw ScheduleError(
        task_text(task),
        "its priority " + std::to_string(parameters.priority) + " is outside of 1..98",
        "choose 1 (lowest) to 98 (highest); 99 is left to the kernel");
  }
}

void check_trigger(const Task& task) {
  if (task.kind == TaskKind::message && task.trigger.empty()) {
    throw ScheduleError(task_text(task), "it is released by messages, but has no trigger",
                        "name the topic that releases it, or make it a timer");
  }
  if (task.kind == TaskKind::timer && !task.trigger.empty()) {
    throw ScheduleError(task_text(task),
                        "it is a timer, but has the trigger " + name_text(task.trigger),
                        "make it a message task, or put the topic among those that it reads");
  }
}

// Others run while it waits, and it goes on at its priority: the kernel alone keeps that order.
void check_waits(const Task& task, const Policy& policy) {
  if (!task.waits) {
    return;
  }
  const std::string otherwise = ", or do not say that it waits: then its waiting is execution time";
  // First, as executors of rclcpp have groups that nobody named.
  if (!policy.fixed_priority() || !policy.preemptive()) {
    throw ScheduleError(
        task_text(task),
        "it waits inside of its jobs, for which policy " + name_text(policy.name()) +
            " has no rule",
        "use a policy of fixed priorities ('fp', 'rm' or 'dm') in every scenario" + otherwise);
  }
  if (!task.group.empty()) {
    throw ScheduleError(task_text(task),
                        "it waits inside of its jobs, and would keep the exclusive group " +
                            name_text(task.group) + " meanwhile",
                        "take it out of the group" + otherwise);
  }
}

void check_reads(const Task& task) {
  std::set<std::string_view> topics;
  for (const Read& read : task.reads) {
    if (!topics.insert(read.topic).second) {
      throw ScheduleError(task_text(task), "it reads topic " + name_text(read.topic) + " twice",
                          "name each topic once");
    }
    check_time(task, ("maximum age of topic " + name_text(read.topic)).c_str(), read.max_age);
  }
}

// Each topic that a task needs must come from somewhere.
void check_topics(const std::vector<Task>& tasks, std::span<const std::string> external) {
  std::unordered_set<std::string_view> known;
  known.reserve(external.size() + tasks.size());
  known.insert(external.begin(), external.end());
  for (const Task& task : tasks) {
    known.insert(task.writes.begin(), task.writes.end());
  }
  const auto check = [&](const Task& task, const std::string& topic, const char* how) {
    if (known.contains(topic)) {
      return;
    }
    std::vector<std::string_view> candidates{known.begin(), known.end()};
    std::ranges::sort(candidates);
    const std::string_view nearest = nearest_name(topic, candidates);
    throw ScheduleError(
        task_text(task), how + name_text(topic) + ", which no task writes",
        (nearest.empty() ? std::string{} : "did you mean " + name_text(nearest) + "? Else ") +
            "name the topic among the writes of the task that publishes it, or declare it "
            "external (external_period of the topic in an app.yaml, external_topics of an "
            "executor)");
  };
  for (const Task& task : tasks) {
    if (task.kind == TaskKind::message) {
      check(task, task.trigger, "it is released by topic ");
    }
    for (const Read& read : task.reads) {
      check(task, read.topic, "it reads topic ");
    }
  }
}

}  // namespace

TaskSet::TaskSet(std::vector<Task> tasks, const Policy& policy,
                 std::span<const std::string> external_topics)
    : tasks_(std::move(tasks)) {
  check_names(tasks_);
  for (const Task& task : tasks_) {
    check_parameters(task);
    check_trigger(task);
    check_waits(task, policy);
    check_reads(task);
  }
  check_topics(tasks_, external_topics);
  policy.prepare(tasks_);
  ages_ = find_age_constraints(tasks_);
  raise_producers(tasks_, ages_);
  find_latest_starts(tasks_, policy, ages_);
}

std::optional<TaskIndex> TaskSet::find(std::string_view name) const noexcept {
  const auto task = std::ranges::find_if(
      tasks_, [name](const Task& candidate) { return candidate.name == name; });
  if (task == tasks_.end()) {
    return std::nullopt;
  }
  return static_cast<TaskIndex>(task - tasks_.begin());
}

}  // namespace takt::sched
