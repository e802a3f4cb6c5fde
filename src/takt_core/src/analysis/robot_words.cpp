// SPDX-License-Identifier: Apache-2.0
#include "robot_words.hpp"

#include <algorithm>

#include "../sched/text.hpp"
#include "methods.hpp"

namespace takt::analysis {

bool is_above(const application::Process& other, const application::Process& own) {
  return other.cpu == own.cpu && other.priority > own.priority;
}

bool publishes(const application::Callback& callback, const std::string& topic) {
  return std::ranges::find(callback.task.writes, topic) != callback.task.writes.end();
}

std::string below_text(const application::Application& robot, std::size_t number) {
  std::string names;
  for (const application::Process& other : robot.processes) {
    if (is_above(other, robot.processes[number])) {
      names += (names.empty() ? ", below " : " and ") + sched::name_text(other.name);
    }
  }
  return names;
}

std::vector<std::string> unbounded_messages(const application::Application& robot,
                                            const application::Application& process,
                                            std::size_t number) {
  std::vector<std::string> remarks;
  for (const application::Topic& topic : process.topics) {
    if (!topic.external || topic.external_period.count() > 0) {
      continue;
    }
    std::string writers;
    for (const application::Callback& writer : robot.callbacks) {
      if (writer.process != number && publishes(writer, topic.name)) {
        writers += (writers.empty() ? "" : " and ") + sched::name_text(writer.task.name) +
                   " of process " + sched::name_text(robot.processes[writer.process].name);
      }
    }
    if (!writers.empty()) {
      remarks.push_back("nothing bounds the messages on topic " + sched::name_text(topic.name) +
                        " by " + writers);
    }
  }
  return remarks;
}

void name_processes_above(ScenarioReport& report) {
  for (CallbackReport& callback : report.callbacks) {
    const std::size_t at = callback.bound_by.find(methods::interrupts);
    if (at != std::string::npos) {
      callback.bound_by.replace(at, methods::interrupts.size(), methods::processes_above);
    }
  }
}

}  // namespace takt::analysis
