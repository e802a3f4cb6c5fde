// SPDX-License-Identifier: Apache-2.0
#include "robot_scenarios.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "../sched/change.hpp"
#include "../sched/stock_executor.hpp"
#include "../sched/text.hpp"
#include "takt/sched/error.hpp"
#include "worst_times.hpp"

namespace takt::application {
namespace {

[[noreturn]] void refuse(const sched::SchedulingScenario& scenario, const std::string& what,
                         const std::string& fix) {
  throw sched::ScheduleError("scenario " + sched::name_text(scenario.name()), what, fix);
}

void check_change(const Application& robot, const sched::SchedulingScenario& scenario,
                  const sched::TaskChange& change) {
  const std::string task = sched::name_text(change.task);
  if (!change.reads.empty() || !change.writes.empty()) {
    refuse(scenario, "it changes what " + task + " reads or writes, in a robot of processes",
           "name the topics in the callback itself");
  }
  for (const Callback& callback : robot.callbacks) {
    const Process& process = robot.processes[callback.process];
    if (callback.task.name == change.task && sched::stock_executor(process.policy)) {
      refuse(scenario,
             "it changes " + task + " of process " + sched::name_text(process.name) +
                 ", whose executor " + process.policy + " has no scenarios",
             "leave it out, or use the executor takt");
    }
  }
}

const sched::TaskChange* find_change(const sched::SchedulingScenario& scenario,
                                     const std::string& task) {
  const auto found = std::ranges::find(scenario.tasks(), task, &sched::TaskChange::task);
  return found == scenario.tasks().end() ? nullptr : &*found;
}

}  // namespace

void check_scenarios(const Application& robot) {
  if (!robot.strategy) {
    return;
  }
  for (const sched::ScenarioPtr& scenario : robot.strategy->scenarios()) {
    if (scenario->policy()) {
      refuse(*scenario, "it has a policy, and each process of the robot has its own",
             "remove policy from it");
    }
    for (const sched::TaskChange& change : scenario->tasks()) {
      check_change(robot, *scenario, change);
    }
  }
}

std::optional<sched::SchedulingStrategy> scenarios_of(
    const Application& robot, std::size_t process,
    const std::vector<std::vector<int>>& priorities) {
  if (!robot.strategy || sched::stock_executor(robot.processes[process].policy)) {
    return {};
  }
  sched::SchedulingStrategy result;
  const std::vector<sched::ScenarioPtr>& scenarios = robot.strategy->scenarios();
  for (std::size_t number = 0; number < scenarios.size(); ++number) {
    sched::SchedulingScenario own{scenarios[number]->name()};
    for (std::size_t i = 0; i < robot.callbacks.size(); ++i) {
      const Callback& callback = robot.callbacks[i];
      if (callback.process != process) {
        continue;
      }
      const sched::TaskChange* const said = find_change(*scenarios[number], callback.task.name);
      const int priority = priorities.empty() ? 0 : priorities[number][i];
      sched::TaskChange change = said == nullptr ? sched::TaskChange{} : *said;
      change.task = callback.task.name;
      if (priority > 0) {
        change.priority = priority;
      }
      if (said != nullptr || priority > 0) {
        own.add_task(std::move(change));
      }
    }
    result.add_scenario(std::move(own));
  }
  result.set_default_scenario(scenarios[robot.strategy->default_scenario()]->name());
  return result;
}

Application in_scenario(const Application& robot, const sched::SchedulingScenario& scenario) {
  Application result = robot;
  result.strategy.reset();
  result.switches.clear();
  for (Callback& callback : result.callbacks) {
    if (const sched::TaskChange* const change = find_change(scenario, callback.task.name)) {
      sched::apply(callback.task, *change);
      set_worst(callback.execution, callback.task.parameters.expected_execution);
    }
  }
  return result;
}

}  // namespace takt::application
