// SPDX-License-Identifier: Apache-2.0
//
// Random sets of which all runs can be looked at.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "analysis/exhaustive_sets.hpp"
#include "analysis/random_tasks.hpp"

namespace takt::analysis {

// What makes a set special comes at random, so that each is also seen without the others.
class ExhaustiveSets : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  ExhaustiveSet draw(const std::string& policy, double most_utilization = 1) {
    ExhaustiveSet set{.policy = policy, .rule = rule_of(policy), .tasks = {}};
    const bool constrained =
        policy == "dm" || policy == "p-rm" || policy == "cw-edf" || chance(0.4);
    const bool groups = (set.rule == Rule::fp || set.rule == Rule::edf) && chance(0.4);
    const bool messages = chance(0.25);
    const bool lags = chance(0.4);
    const bool offsets = chance(0.4);
    const bool drops = chance(0.3);
    for (const OracleTask& task : tasks_of(constrained, groups, most_utilization)) {
      set.tasks.push_back({.task = task});
    }
    for (std::size_t i = 0; i < set.tasks.size(); ++i) {
      ExhaustiveTask& entry = set.tasks[i];
      OracleTask& task = entry.task;
      task.best = chance(0.5) ? number(1, task.execution) : task.execution;
      task.lag = lags && chance(0.6) ? number(0, chance(0.5) ? 4 : task.period) : 0;
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

  // Groups, and timers that are noticed up to their deadlines late: who is late finds on the stack
  // what would not be there otherwise.
  ExhaustiveSet draw_late(const std::string& policy) {
    ExhaustiveSet set{.policy = policy, .rule = rule_of(policy), .tasks = {}};
    for (const OracleTask& task :
         tasks_of(true, set.rule == Rule::fp || set.rule == Rule::edf, 0.9)) {
      set.tasks.push_back({.task = task});
      set.tasks.back().task.lag = chance(0.4) ? number(0, task.deadline - 1) : 0;
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
  std::vector<OracleTask> tasks_of(bool constrained, bool groups, double most_utilization) {
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
      if (utilization(result) <= most_utilization + 1e-9) {
        return result;
      }
    }
  }

  // Released by one of those before it, or by two.
  void make_message(ExhaustiveSet& set, std::size_t task) {
    ExhaustiveTask& entry = set.tasks[task];
    entry.task.offset = 0;
    entry.trigger.writers = {
        static_cast<std::size_t>(number(0, static_cast<std::int64_t>(task) - 1))};
    if (chance(0.2) && entry.trigger.writers.front() + 1 < task) {
      entry.trigger.writers.push_back(task - 1);
    }
    entry.task.period = set.tasks[entry.trigger.writers.front()].task.period;
    entry.task.execution = std::min<std::int64_t>(entry.task.execution, 2);
    entry.task.best = std::min(entry.task.best, entry.task.execution);
    if (set.policy == "dm" || set.policy == "p-rm" || set.policy == "cw-edf") {
      entry.task.deadline = std::min(entry.task.deadline, entry.task.period);
    }
  }

  // As the policies do.
  static void assign_priorities(ExhaustiveSet& set) {
    assign(set, [](ExhaustiveTask& entry) -> OracleTask& { return entry.task; });
  }

 protected:
  // The shorter the period or the deadline, the higher, without gaps.
  template <class Parameters>
  static void assign(ExhaustiveSet& set, Parameters of) {
    const bool by_period = set.policy == "rm" || set.policy == "p-rm";
    if (!by_period && set.policy != "dm") {
      return;
    }
    const auto key = [&](ExhaustiveTask& entry) {
      return by_period ? of(entry).period : of(entry).deadline;
    };
    std::set<std::int64_t> keys;
    for (ExhaustiveTask& entry : set.tasks) {
      keys.insert(key(entry));
    }
    for (ExhaustiveTask& entry : set.tasks) {
      of(entry).priority =
          static_cast<int>(98 - std::distance(keys.begin(), keys.find(key(entry))));
    }
  }
};

}  // namespace takt::analysis
