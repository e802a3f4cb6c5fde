// SPDX-License-Identifier: Apache-2.0
#include "scenario_changes.hpp"

#include <algorithm>

#include "../application/robot.hpp"
#include "../application/robot_scenarios.hpp"
#include "../sched/stock_executor.hpp"
#include "../sched/text.hpp"
#include "robot_words.hpp"
#include "takt/analysis/core.hpp"
#include "takt/application/compile.hpp"

namespace takt::analysis {

using application::Application;
using application::Callback;

namespace {

bool same(const Callback& one, const Callback& other) {
  const sched::TaskParameters& left = one.task.parameters;
  const sched::TaskParameters& right = other.task.parameters;
  return left.active == right.active && left.period == right.period &&
         left.offset == right.offset && left.overrun == right.overrun &&
         left.expected_execution == right.expected_execution &&
         sched::relative_deadline(left) == sched::relative_deadline(right) &&
         left.priority == right.priority;
}

void unite(Callback& all, const Callback& one, bool dense) {
  sched::TaskParameters& parameters = all.task.parameters;
  const sched::TaskParameters& other = one.task.parameters;
  parameters.period =
      dense ? std::min(parameters.period, other.period) : std::max(parameters.period, other.period);
  parameters.offset = std::max(parameters.offset, other.offset);
  parameters.expected_execution = std::max(parameters.expected_execution, other.expected_execution);
  parameters.priority = std::max(parameters.priority, other.priority);
  all.execution.worst = std::max(all.execution.worst, one.execution.worst);
  all.execution.best = std::min(all.execution.best, one.execution.best);
  all.execution.quantiles.clear();
}

void widen(ScenarioChange& change, const Callback& one, sched::Level level) {
  const nanoseconds deadline = sched::relative_deadline(one.task.parameters);
  const auto none = [](nanoseconds time) { return time.count() == 0; };
  change.shortest_deadline = none(change.shortest_deadline) || none(deadline)
                                 ? std::max(change.shortest_deadline, deadline)
                                 : std::min(change.shortest_deadline, deadline);
  change.longest_deadline = none(change.longest_deadline) || none(deadline)
                                ? nanoseconds{0}
                                : std::max(change.longest_deadline, deadline);
  change.longest_period = std::max(change.longest_period, one.task.parameters.period);
  change.lowest_level = std::min(change.lowest_level, level);
  change.highest_level = std::max(change.highest_level, level);
}

}  // namespace

ScenarioChanges::ScenarioChanges(const Application& robot)
    : robot_(robot), of_(robot.callbacks.size()), changed_(robot.processes.size()) {
  std::vector<Application> scenarios;
  for (const sched::ScenarioPtr& scenario : robot.strategy->scenarios()) {
    scenarios.push_back(application::in_scenario(robot, *scenario));
  }
  densest_ = sparsest_ = scenarios.front();
  unite(scenarios);
  std::vector<bool> known(robot.callbacks.size());
  for (std::size_t process = 0; process < robot.processes.size(); ++process) {
    if (sched::stock_executor(robot.processes[process].policy)) {
      continue;
    }
    for (const Application& scenario : scenarios) {
      const sched::CompiledStrategy compiled =
          application::compile(application::process_of(scenario, process));
      for (std::size_t i = 0; i < compiled.tasks().size(); ++i) {
        const std::string& name = compiled.tasks()[i].name;
        const auto at = static_cast<std::size_t>(
            std::ranges::find(robot.callbacks, name,
                              [](const Callback& one) { return one.task.name; }) -
            robot.callbacks.begin());
        const Callback& one = scenario.callbacks[at];
        if (!one.task.parameters.active) {
          continue;
        }
        const sched::Level level =
            compiled.scenarios().front().ceilings().level(static_cast<sched::TaskIndex>(i));
        if (!known[at]) {
          known[at] = true;
          const nanoseconds deadline = sched::relative_deadline(one.task.parameters);
          of_[at].shortest_deadline = of_[at].longest_deadline = deadline;
          of_[at].lowest_level = of_[at].highest_level = level;
        }
        widen(of_[at], one, level);
      }
    }
  }
  for (std::size_t i = 0; i < robot.callbacks.size(); ++i) {
    const nanoseconds deadline = of_[i].shortest_deadline;
    for (Application* const all : {&densest_, &sparsest_}) {
      if (of_[i].changes && deadline.count() > 0) {
        all->callbacks[i].task.parameters.deadline = deadline;
      }
    }
  }
}

void ScenarioChanges::unite(const std::vector<Application>& scenarios) {
  for (std::size_t i = 0; i < robot_.callbacks.size(); ++i) {
    const Callback* first = nullptr;  // of those that are active
    bool active_in_all = true;
    for (const Application& scenario : scenarios) {
      const Callback& one = scenario.callbacks[i];
      of_[i].changes = of_[i].changes || !same(one, scenarios.front().callbacks[i]);
      active_in_all = active_in_all && one.task.parameters.active;
      if (!one.task.parameters.active) {
        continue;
      }
      if (first == nullptr) {
        first = &one;
        of_[i].shortest_offset = one.task.parameters.offset;
        densest_.callbacks[i] = sparsest_.callbacks[i] = one;
      }
      of_[i].shortest_offset = std::min(of_[i].shortest_offset, one.task.parameters.offset);
      analysis::unite(densest_.callbacks[i], one, true);
      analysis::unite(sparsest_.callbacks[i], one, false);
    }
    of_[i].pauses = first != nullptr && !active_in_all;
    const std::size_t process = robot_.callbacks[i].process;
    changed_[process] = changed_[process] || of_[i].changes;
  }
}

const ScenarioChange& ScenarioChanges::of(const std::string& callback) const {
  const auto found = std::ranges::find(robot_.callbacks, callback,
                                       [](const Callback& one) { return one.task.name; });
  return of_[static_cast<std::size_t>(found - robot_.callbacks.begin())];
}

nanoseconds ScenarioChanges::least_stay() const {
  nanoseconds least{0};
  for (std::size_t i = 0; i < of_.size(); ++i) {
    const Callback& one = robot_.callbacks[i];
    if (of_[i].pauses && one.task.kind == sched::TaskKind::timer) {
      least = std::max(least, of_[i].longest_period - of_[i].shortest_offset);
    }
  }
  return least;
}

std::string ScenarioChanges::not_covered() const {
  if (!robot_.joins().empty()) {
    return "joins keep messages across a switch";
  }
  for (std::size_t i = 0; i < robot_.callbacks.size(); ++i) {
    if (std::string reason = not_covered(i); !reason.empty()) {
      return reason;
    }
  }
  for (std::size_t process = 0; process < robot_.processes.size(); ++process) {
    if (std::string reason = not_covered_process(process); !reason.empty()) {
      return reason;
    }
  }
  return not_covered_chains();
}

std::string ScenarioChanges::not_covered(std::size_t callback) const {
  const Callback& one = robot_.callbacks[callback];
  const std::string name = sched::name_text(one.task.name);
  if (one.server || one.calls()) {
    return name + (one.server ? " is the server of a service" : " calls a service");
  }
  for (const sched::Read& read : densest_.callbacks[callback].task.reads) {
    if (read.max_age.count() > 0) {
      return "the age of " + sched::name_text(read.topic) + " around them is not bounded";
    }
  }
  const application::Process& process = robot_.processes[one.process];
  const bool bound_to_others = one.task.waits || !one.task.group.empty() || one.lanes > 1 ||
                               one.holds_locks() || !one.segments.empty();
  if (bound_to_others && !sched::stock_executor(process.policy)) {
    return name + " waits, has a group or a lock, or runs several times at once";
  }
  if (!changed_[one.process]) {
    return {};
  }
  if (of_[callback].pauses &&
      densest_.callbacks[callback].task.parameters.period != of_[callback].longest_period) {
    return name + " is active in some scenarios only, with several periods";
  }
  return one.task.kind == sched::TaskKind::message ? not_covered_input(callback) : std::string{};
}

// Its messages have to come one after the other.
std::string ScenarioChanges::not_covered_input(std::size_t callback) const {
  const Callback& reader = robot_.callbacks[callback];
  const std::string& topic = reader.task.trigger;
  int inside = 0;
  bool several = false;
  for (const Callback& other : robot_.callbacks) {
    if (other.process == reader.process && other.node_name() == reader.node_name() &&
        std::ranges::find(other.task.reads, topic, &sched::Read::topic) != other.task.reads.end()) {
      return sched::name_text(reader.task.name) + " may run within " +
             sched::name_text(other.task.name) + ", which reads its messages";
    }
  }
  for (const Callback& writer : robot_.callbacks) {
    if (writer.process == reader.process && publishes(writer, topic)) {
      ++inside;
      several = several || writer.messages_on(topic).most > 1 || writer.publishes_anywhere;
    }
  }
  const bool outside = application::comes_from_elsewhere(robot_, topic, reader.process) ||
                       (robot_.find_topic(topic) != nullptr && robot_.find_topic(topic)->external);
  if (several || inside > 1 || (inside == 1 && outside)) {
    return sched::name_text(reader.task.name) +
           " has messages of several writers, several of one job, or " +
           "some before the end of a job";
  }
  return {};
}

std::string ScenarioChanges::not_covered_process(std::size_t process) const {
  if (!changed_[process]) {
    return {};
  }
  const application::Process& own = robot_.processes[process];
  const sched::CompiledStrategy compiled =
      application::compile(application::process_of(robot_, process));
  const sched::Policy& policy = compiled.scenarios().front().policy();
  const Test test = test_for(policy);
  if ((test != Test::fixed_priority && test != Test::edf) || !policy.preemptive()) {
    return "process " + sched::name_text(own.name) + " does not preempt its callbacks (policy " +
           own.policy + ")";
  }
  return {};
}

// Of a chain without a limit nothing is asked.
std::string ScenarioChanges::not_covered_chains() const {
  for (const application::Chain& chain : robot_.chains) {
    const std::string name = chain.max_latency.count() > 0 ? pausing_in(chain) : std::string{};
    if (!name.empty()) {
      return "the data of chain " + sched::name_text(chain.name) + " may wait for " +
             sched::name_text(name) + ", which is active in some scenarios only";
    }
  }
  return {};
}

std::string ScenarioChanges::pausing_in(const application::Chain& chain) const {
  for (const std::string& name : chain.callbacks) {
    if (name != chain.callbacks.front() && of(name).pauses) {
      return name;
    }
  }
  return {};
}

}  // namespace takt::analysis
