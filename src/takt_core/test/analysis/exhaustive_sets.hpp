// SPDX-License-Identifier: Apache-2.0
//
// Random sets that are small enough to look at all their runs, and the same as applications.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "analysis/exhaustive.hpp"
#include "analysis/random_tasks.hpp"
#include "takt/application/application.hpp"

namespace takt::analysis {

struct ExhaustiveSet {
  std::string policy;
  Rule rule = Rule::fp;
  std::vector<ExhaustiveTask> tasks;
};

inline Rule rule_of(const std::string& policy) {
  constexpr std::array<std::pair<std::string_view, Rule>, 5> others = {{{"edf", Rule::edf},
                                                                        {"np-fp", Rule::np_fp},
                                                                        {"np-edf", Rule::np_edf},
                                                                        {"p-rm", Rule::p_rm},
                                                                        {"cw-edf", Rule::cw_edf}}};
  const auto* const found =
      std::ranges::find(others, policy, [](const auto& o) { return o.first; });
  return found == others.end() ? Rule::fp : found->second;
}

// One tick is one nanosecond.
inline application::Application application_of(const ExhaustiveSet& set) {
  application::Application app{.name = "random", .policy = set.policy};
  for (const ExhaustiveTask& entry : set.tasks) {
    const OracleTask& task = entry.task;
    const std::string index = std::to_string(app.callbacks.size());
    application::Callback callback;
    callback.task.name = "c" + index;
    callback.node = callback.task.name;
    callback.task.parameters = {.period = nanoseconds{task.period},
                                .offset = nanoseconds{task.offset},
                                .deadline = nanoseconds{task.deadline},
                                .priority = task.priority,
                                .expected_execution = nanoseconds{task.execution},
                                .overrun = entry.drop == Drop::nothing ? sched::Overrun::catch_up
                                           : entry.drop == Drop::stale ? sched::Overrun::skip
                                                                       : sched::Overrun::queue_one};
    callback.task.group = task.group == 0 ? "" : "g" + std::to_string(task.group);
    callback.execution = {.best = nanoseconds{task.best > 0 ? task.best : task.execution},
                          .worst = nanoseconds{task.execution}};
    callback.execution.quantiles = {callback.execution.best, callback.execution.worst};
    callback.jitter = nanoseconds{task.lag};
    if (!entry.writers.empty()) {
      callback.task.kind = sched::TaskKind::message;
      callback.task.trigger = "t" + index;
      app.topics.push_back({.name = callback.task.trigger, .depth = 32});
    }
    app.callbacks.push_back(std::move(callback));
  }
  for (std::size_t i = 0; i < set.tasks.size(); ++i) {
    for (const std::size_t writer : set.tasks[i].writers) {
      app.callbacks[writer].task.writes.push_back("t" + std::to_string(i));
    }
  }
  return app;
}

inline std::string describe(const ExhaustiveSet& set) {
  std::string result = set.policy;
  for (const ExhaustiveTask& entry : set.tasks) {
    const OracleTask& task = entry.task;
    result += "\n  C=" + std::to_string(task.best) + ".." + std::to_string(task.execution) +
              " T=" + std::to_string(task.period) + " D=" + std::to_string(task.deadline) +
              " P=" + std::to_string(task.priority) + " G=" + std::to_string(task.group) +
              " O=" + std::to_string(task.offset) + " J=" + std::to_string(task.lag);
    for (const std::size_t writer : entry.writers) {
      result += " written by c" + std::to_string(writer);
    }
    result += entry.drop == Drop::nothing ? "" : entry.drop == Drop::stale ? " skip" : " queue_one";
  }
  return result;
}

// What makes a set special comes at random, so that each is also seen without the others.
class ExhaustiveSets : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  ExhaustiveSet draw(const std::string& policy) {
    ExhaustiveSet set{.policy = policy, .rule = rule_of(policy), .tasks = {}};
    const bool constrained =
        policy == "dm" || policy == "p-rm" || policy == "cw-edf" || chance(0.4);
    const bool groups = (set.rule == Rule::fp || set.rule == Rule::edf) && chance(0.4);
    const bool messages = chance(0.25);
    const bool lags = chance(0.4);
    const bool offsets = chance(0.4);
    const bool drops = chance(0.3);
    for (const OracleTask& task : tasks_of(constrained, groups)) {
      set.tasks.push_back({.task = task});
    }
    for (std::size_t i = 0; i < set.tasks.size(); ++i) {
      ExhaustiveTask& entry = set.tasks[i];
      OracleTask& task = entry.task;
      task.best = chance(0.5) ? number(1, task.execution) : task.execution;
      task.lag = lags && chance(0.6) ? number(0, 4) : 0;
      task.offset = offsets ? number(0, 2 * task.period) : 0;
      if (drops && chance(0.5)) {
        entry.drop = chance(0.7) ? Drop::stale : Drop::all_but_one;
      }
      if (messages && i > 0 && chance(0.5)) {
        make_message(set, i);
      }
    }
    assign_priorities(set);
    return set;
  }

  // Timers alone, for the closed tests.
  ExhaustiveSet draw_plain(const std::string& policy) {
    ExhaustiveSet set{.policy = policy, .rule = rule_of(policy), .tasks = {}};
    const Form form{.most_deadline = 1.8, .groups = policy == "fp" && chance(0.5)};
    while (set.tasks.empty()) {
      for (const OracleTask& task : tasks(form)) {
        set.tasks.push_back({.task = task});
      }
      if (std::ranges::any_of(set.tasks,
                              [](const auto& entry) { return entry.task.period > 12; })) {
        set.tasks.clear();
      }
    }
    return set;
  }

 private:
  std::vector<OracleTask> tasks_of(bool constrained, bool groups) {
    constexpr std::array<std::int64_t, 6> periods = {4, 5, 6, 8, 10, 12};
    for (;;) {
      std::vector<OracleTask> result(static_cast<std::size_t>(number(2, 4)));
      for (OracleTask& task : result) {
        task.period = periods[static_cast<std::size_t>(number(0, periods.size() - 1))];
        task.execution = number(1, std::max<std::int64_t>(1, task.period / 2));
        const std::int64_t most = constrained ? task.period : 2 * task.period;
        task.deadline = number(std::min(most, task.execution + task.period / 3), most);
        task.priority = static_cast<int>(number(1, 5));
        task.group = groups && chance(0.6) ? static_cast<int>(number(1, 2)) : 0;
      }
      if (utilisation(result) <= 1 + 1e-9) {
        return result;
      }
    }
  }

  // Released by one of those before it, or by two.
  void make_message(ExhaustiveSet& set, std::size_t task) {
    ExhaustiveTask& entry = set.tasks[task];
    entry.task.offset = 0;
    entry.writers = {static_cast<std::size_t>(number(0, static_cast<std::int64_t>(task) - 1))};
    if (chance(0.2) && entry.writers.front() + 1 < task) {
      entry.writers.push_back(task - 1);
    }
    entry.task.period = set.tasks[entry.writers.front()].task.period;
    entry.task.execution = std::min<std::int64_t>(entry.task.execution, 2);
    entry.task.best = std::min(entry.task.best, entry.task.execution);
    if (set.policy == "dm" || set.policy == "p-rm" || set.policy == "cw-edf") {
      entry.task.deadline = std::min(entry.task.deadline, entry.task.period);
    }
  }

  // As the policies do.
  static void assign_priorities(ExhaustiveSet& set) {
    for (ExhaustiveTask& entry : set.tasks) {
      if (set.policy == "rm" || set.policy == "p-rm") {
        entry.task.priority = static_cast<int>(98 - entry.task.period);
      } else if (set.policy == "dm") {
        entry.task.priority = static_cast<int>(98 - entry.task.deadline);
      }
    }
  }
};

}  // namespace takt::analysis
