// SPDX-License-Identifier: Apache-2.0
//
// Chains over several cores as applications (every_run_of_cores.hpp).
#pragma once

#include <string>
#include <vector>

#include "analysis/every_run_of_cores.hpp"
#include "analysis/exhaustive_sets.hpp"
#include "takt/application/application.hpp"

namespace takt::analysis {

// Timers that are not regular are messages from outside: nothing says that they come.
inline void add_source(application::Application& app, application::Callback& own,
                       const CoreTask& task) {
  if (task.regular) {
    own.task.parameters.period = nanoseconds{task.period};
    own.task.any_offset = task.latest_first == task.period;
    own.task.parameters.offset = nanoseconds{own.task.any_offset ? 0 : task.latest_first};
    return;
  }
  own.task.kind = sched::TaskKind::message;
  own.task.trigger = "from_outside_to_" + own.task.name;
  app.topics.push_back({.name = own.task.trigger,
                        .depth = 100,
                        .external = true,
                        .external_period = nanoseconds{task.period}});
}

inline application::Application application_of(const std::vector<CoreTask>& tasks,
                                               const std::string& policy) {
  application::Application app{.name = "random", .policy = policy};
  app.cpus = {0, 1};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const CoreTask& task = tasks[i];
    application::Callback own;
    own.task.name = own.node = name_of(i);
    own.task.cpu = static_cast<int>(task.core);
    own.task.parameters = {.deadline = nanoseconds{task.deadline},
                           .priority = task.priority,
                           .expected_execution = nanoseconds{task.worst},
                           .overrun = sched::Overrun::catch_up};
    own.execution = {.best = nanoseconds{task.best}, .worst = nanoseconds{task.worst}};
    own.execution.quantiles = {own.execution.best, own.execution.worst};
    own.publishes_anywhere = task.anywhere;
    if (task.before == CoreTask::timer) {
      add_source(app, own, task);
    } else {
      own.task.kind = sched::TaskKind::message;
      own.task.trigger = "t" + std::to_string(task.before);
    }
    own.task.writes = {"t" + std::to_string(i)};
    app.topics.push_back({.name = "t" + std::to_string(i), .depth = 100});
    app.callbacks.push_back(std::move(own));
  }
  return app;
}

inline std::string describe(const std::vector<CoreTask>& tasks) {
  std::string text;
  for (const CoreTask& task : tasks) {
    text += "\n  core " + std::to_string(task.core) + " C=" + std::to_string(task.best) + ".." +
            std::to_string(task.worst) + " T=" + std::to_string(task.period) +
            " D=" + std::to_string(task.deadline) + " P=" + std::to_string(task.priority) +
            (task.before == CoreTask::timer ? "" : " after c" + std::to_string(task.before)) +
            (task.anywhere ? " publishes anywhere" : "") +
            (task.regular ? ", first until " + std::to_string(task.latest_first) : "");
  }
  return text;
}

}  // namespace takt::analysis
