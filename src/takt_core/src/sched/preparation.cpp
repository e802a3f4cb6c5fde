// SPDX-License-Identifier: Apache-2.0
#include "preparation.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "takt/sched/error.hpp"
#include "text.hpp"

namespace takt::sched {
namespace {

bool reads_topic(const Task& task, const std::string& topic) {
  return std::ranges::any_of(task.reads, [&](const Read& read) { return read.topic == topic; });
}

// Repeats `inherit(receiver, reader)` over all message tasks that wait for something and the tasks
// that read their topic, until nothing changes: a reader may be a message task that inherits.
template <class Waits, class Inherit>
void inherit_from_readers(std::vector<Task>& tasks, Waits waits, Inherit inherit) {
  std::vector<Task*> receivers;
  for (Task& task : tasks) {
    if (task.kind == TaskKind::message && waits(task)) {
      receivers.push_back(&task);
    }
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (Task* receiver : receivers) {
      for (const Task& reader : tasks) {
        if (&reader != receiver && reads_topic(reader, receiver->trigger)) {
          changed = inherit(receiver->parameters, reader.parameters) || changed;
        }
      }
    }
  }
}

std::string needs(std::string_view policy, std::string_view what) {
  std::string text = "policy ";
  text += name_text(policy);
  text += " needs ";
  text += what;
  return text;
}

// Why a message task did not inherit what it lacks.
std::string unread(const Task& task) {
  return task.kind == TaskKind::message
             ? ", and no task from which it could take one reads its topic " +
                   name_text(task.trigger)
             : "";
}

void refuse_without_priority(const std::vector<Task>& tasks, std::string_view policy,
                             std::string_view what, std::string_view fix) {
  for (const Task& task : tasks) {
    if (task.parameters.priority == 0) {
      throw ScheduleError(task_text(task),
                          needs(policy, std::string{what} + ", and it has none") + unread(task),
                          std::string{fix});
    }
  }
}

}  // namespace

void inherit_priorities(std::vector<Task>& tasks) {
  inherit_from_readers(
      tasks, [](const Task& task) { return task.parameters.priority == 0; },
      [](TaskParameters& receiver, const TaskParameters& reader) {
        const bool higher = reader.priority > receiver.priority;
        receiver.priority = std::max(receiver.priority, reader.priority);
        return higher;
      });
}

void inherit_deadlines(std::vector<Task>& tasks) {
  inherit_from_readers(
      tasks, [](const Task& task) { return relative_deadline(task.parameters).count() == 0; },
      [](TaskParameters& receiver, const TaskParameters& reader) {
        const nanoseconds deadline = relative_deadline(reader);
        const bool shorter = deadline.count() > 0 &&
                             (receiver.deadline.count() == 0 || deadline < receiver.deadline);
        if (shorter) {
          receiver.deadline = deadline;
        }
        return shorter;
      });
}

void assign_priorities(std::vector<Task>& tasks, PriorityKey key, std::string_view policy) {
  std::map<nanoseconds, int> priorities;
  for (const Task& task : tasks) {
    if (const nanoseconds value = key(task.parameters); value.count() > 0) {
      priorities.emplace(value, 0);
    }
  }
  constexpr std::size_t available{highest_priority - lowest_priority + 1};
  if (priorities.size() > available) {
    throw ScheduleError("policy " + name_text(policy),
                        "the tasks have " + std::to_string(priorities.size()) +
                            " different periods or deadlines, but there are only 98 priorities",
                        "make some of them equal, spread the tasks over several executors, or use "
                        "'edf', which needs no priorities");
  }
  int next = highest_priority;
  for (auto& [value, priority] : priorities) {
    priority = next--;
  }
  for (Task& task : tasks) {
    const nanoseconds value = key(task.parameters);
    task.parameters.priority = value.count() > 0 ? priorities.at(value) : 0;
  }
  inherit_priorities(tasks);
  refuse_without_priority(tasks, policy, "a period, from which it makes priorities",
                          "give it a period, the shortest time between two of its releases (under "
                          "'dm' a deadline does, too)");
}

void require_priorities(const std::vector<Task>& tasks, std::string_view policy) {
  refuse_without_priority(tasks, policy, "a priority",
                          "give it a priority of 1..98 (98 highest), or take a policy that needs "
                          "none: 'rm', 'dm' or 'edf'");
}

void require_execution_times(const std::vector<Task>& tasks, std::string_view policy) {
  for (const Task& task : tasks) {
    if (task.parameters.expected_execution.count() == 0) {
      throw ScheduleError(
          task_text(task), needs(policy, "the expected execution time, and it has none"),
          "give it an expected_execution (its worst case), or use a policy that never idles on "
          "purpose: 'np-fp' or 'np-edf'");
    }
  }
}

void refuse_deadlines_above_periods(const std::vector<Task>& tasks, std::string_view policy) {
  for (const Task& task : tasks) {
    const TaskParameters& parameters = task.parameters;
    if (parameters.period.count() > 0 && parameters.deadline > parameters.period) {
      throw ScheduleError(task_text(task),
                          "its deadline " + time_text(parameters.deadline) +
                              " is above its period " + time_text(parameters.period) +
                              ", which policy " + name_text(policy) + " does not allow",
                          "lower the deadline, or use 'fp' or 'edf'");
    }
  }
}

}  // namespace takt::sched
