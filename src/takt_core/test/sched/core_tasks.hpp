// SPDX-License-Identifier: Apache-2.0
//
// Random tasks for a core.
#pragma once

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <utility>

#include "takt/sched/policy.hpp"
#include "takt/sched/task.hpp"

namespace takt::sched {

inline std::string topic(std::mt19937& random) {
  return random() % 2 == 0 ? "scan" : "map";
}

inline void draw_parameters(TaskParameters& parameters, const Policy& policy,
                            std::mt19937& random) {
  parameters.period = std::chrono::nanoseconds{5 + random() % 20};
  parameters.offset = std::chrono::nanoseconds{random() % 10};
  parameters.deadline = std::chrono::nanoseconds{1 + random() % 30};
  parameters.expected_execution = std::chrono::nanoseconds{1};
  parameters.priority = 1 + static_cast<int>(random() % 5);
  parameters.overrun = static_cast<Overrun>(random() % 3);
  parameters.active = random() % 8 != 0;
  if (policy.name() == "p-rm" || policy.name() == "cw-edf" || policy.name() == "dm") {
    parameters.deadline = std::min(parameters.deadline, parameters.period);
  }
}

inline Task draw_task(std::string name, const Policy& policy, std::mt19937& random) {
  Task task;
  task.name = std::move(name);
  // Precautious-RM must know the next release of the most urgent task.
  const bool by_messages = random() % 4 == 0 && policy.name() != "p-rm";
  task.kind = by_messages ? TaskKind::message : TaskKind::timer;
  task.trigger = task.kind == TaskKind::message ? "outside" : "";
  draw_parameters(task.parameters, policy, random);
  task.group = random() % 3 == 0 ? std::string{"g"} + static_cast<char>('a' + random() % 2) : "";
  if (random() % 2 == 0) {
    task.writes.push_back(topic(random));
  }
  if (random() % 2 == 0) {
    task.reads.push_back(
        {.topic = topic(random), .max_age = std::chrono::nanoseconds{2 + random() % 20}});
  }
  return task;
}

}  // namespace takt::sched
