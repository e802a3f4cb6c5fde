// SPDX-License-Identifier: Apache-2.0
//
// Sets that are small enough to look at all their runs, and the same as applications.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "analysis/exhaustive.hpp"
#include "takt/application/application.hpp"

namespace takt::analysis {

struct ExhaustiveSet {
  std::string policy;
  Rule rule = Rule::fp;
  std::vector<ExhaustiveTask> tasks;
  Costs costs = {};
  std::vector<std::size_t> chain = {};
  std::int64_t max_latency = 0;  // of the chain; 0: any
  bool switches = false;
  CoreLimits core = {};
};

inline Exhaustive options_of(const ExhaustiveSet& set) {
  return {.rule = set.rule,
          .switches = set.switches,
          .costs = set.costs,
          .core = set.core,
          .chain = set.chain};
}

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

inline std::string name_of(std::size_t task) {
  return "c" + std::to_string(task);
}

// The topic that task reads as its input of this number, and the one that releases it.
inline std::string topic_of(std::size_t task, std::size_t input) {
  return "r" + std::to_string(task) + "_" + std::to_string(input);
}
inline std::string trigger_of(std::size_t task) {
  return "t" + std::to_string(task);
}

inline void add_topic(application::Application& app, const std::string& name, const Input& input,
                      const std::vector<ExhaustiveTask>& tasks) {
  constexpr std::size_t all = 32;
  app.topics.push_back(
      {.name = name, .depth = input.depth > 0 ? static_cast<std::size_t>(input.depth) : all});
  for (const std::size_t writer : input.writers) {
    app.callbacks[writer].task.writes.push_back(name);
    if (tasks[writer].messages > 1) {
      app.callbacks[writer].messages[name] = {.least = tasks[writer].messages,
                                              .most = tasks[writer].messages};
    }
  }
}

inline sched::Overrun overrun_of(Drop drop) {
  if (drop == Drop::nothing) {
    return sched::Overrun::catch_up;
  }
  return drop == Drop::stale ? sched::Overrun::skip : sched::Overrun::queue_one;
}

inline application::Callback callback_of(const ExhaustiveTask& entry, std::size_t index) {
  const OracleTask& task = entry.task;
  application::Callback callback;
  callback.task.name = callback.node = name_of(index);
  callback.task.parameters = {.period = nanoseconds{task.period},
                              .offset = nanoseconds{task.offset},
                              .deadline = nanoseconds{task.deadline},
                              .priority = task.priority,
                              .expected_execution = nanoseconds{task.execution},
                              .overrun = overrun_of(entry.drop)};
  if (entry.join != 0) {
    callback.join = callback.node = "j" + std::to_string(entry.join);
  }
  callback.task.group = task.group == 0 ? "" : "g" + std::to_string(task.group);
  callback.task.waits = entry.suspension > 0;
  callback.execution = {.best = nanoseconds{task.best > 0 ? task.best : task.execution},
                        .worst = nanoseconds{task.execution}};
  callback.execution.quantiles = {callback.execution.best, callback.execution.worst};
  callback.jitter = nanoseconds{task.lag};
  callback.suspension = nanoseconds{entry.suspension};
  callback.suspensions = entry.suspensions;
  callback.publishes_anywhere = entry.anywhere;
  if (!entry.trigger.writers.empty()) {
    callback.task.kind = sched::TaskKind::message;
    callback.task.trigger = trigger_of(index);
  }
  return callback;
}

inline sched::SchedulingStrategy strategy_of(const ExhaustiveSet& set) {
  sched::SchedulingScenario other{"other"};
  for (std::size_t i = 0; i < set.tasks.size(); ++i) {
    if (const auto& changed = set.tasks[i].other) {
      sched::TaskChange change{.task = name_of(i)};
      change.priority = changed->priority;
      change.deadline = nanoseconds{changed->deadline};
      change.expected_execution = nanoseconds{changed->execution};
      if (set.tasks[i].trigger.writers.empty()) {
        change.period = nanoseconds{changed->period};
      }
      other.add_task(change);
    }
  }
  sched::SchedulingStrategy strategy;
  strategy.add_scenario(sched::SchedulingScenario{"one"});
  strategy.add_scenario(std::move(other));
  return strategy;
}

// `latency`: as the oracle's cost of a dispatch.
inline application::Core core_of(const CoreLimits& limits, std::int64_t latency) {
  application::Core core{.cpu = 0, .latency = nanoseconds{latency}};
  if (limits.period > 0) {
    core.supply = application::Supply{.budget = nanoseconds{limits.budget},
                                      .period = nanoseconds{limits.period}};
  } else if (limits.rate_of > 0) {
    core.supply =
        application::Supply{.rate = application::Supply::whole / limits.rate_of * limits.rate,
                            .delay = nanoseconds{limits.delay}};
  }
  if (limits.interrupt_period > 0) {
    core.interrupts.push_back({.period = nanoseconds{limits.interrupt_period},
                               .duration = nanoseconds{limits.interrupt_duration},
                               .burst = limits.burst});
  }
  return core;
}

// One tick is one nanosecond.
inline application::Application application_of(const ExhaustiveSet& set) {
  constexpr nanoseconds any_age{10'000};  // nothing is released early to keep it
  application::Application app{.name = "random", .policy = set.policy};
  for (const ExhaustiveTask& entry : set.tasks) {
    app.callbacks.push_back(callback_of(entry, app.callbacks.size()));
  }
  for (std::size_t i = 0; i < set.tasks.size(); ++i) {
    const ExhaustiveTask& entry = set.tasks[i];
    if (!entry.trigger.writers.empty()) {
      add_topic(app, trigger_of(i), entry.trigger, set.tasks);
    }
    for (std::size_t k = 0; k < entry.reads.size(); ++k) {
      add_topic(app, topic_of(i, k), entry.reads[k], set.tasks);
      const std::int64_t limit = entry.reads[k].max_age;
      app.callbacks[i].task.reads.push_back(
          {.topic = topic_of(i, k), .max_age = limit > 0 ? nanoseconds{limit} : any_age});
    }
  }
  if (!set.chain.empty()) {
    app.chains.push_back({.name = "chain", .max_latency = nanoseconds{set.max_latency}});
    for (const std::size_t task : set.chain) {
      app.chains.back().callbacks.push_back(name_of(task));
    }
  }
  app.overheads = {.dispatch = nanoseconds{set.costs.dispatch},
                   .preemption = nanoseconds{set.costs.preemption},
                   .release = nanoseconds{set.costs.release},
                   .publish = nanoseconds{set.costs.publish},
                   .deliver = nanoseconds{set.costs.deliver}};
  if (set.switches) {
    app.strategy = strategy_of(set);
  }
  return app;
}

inline std::string describe(const Input& input) {
  std::string result;
  for (const std::size_t writer : input.writers) {
    result += " " + name_of(writer);
  }
  return result + " depth " + std::to_string(input.depth) +
         (input.max_age > 0 ? " age " + std::to_string(input.max_age) : "");
}

inline std::string describe(const OracleTask& task) {
  return "C=" + std::to_string(task.best) + ".." + std::to_string(task.execution) +
         " T=" + std::to_string(task.period) + " D=" + std::to_string(task.deadline) +
         " P=" + std::to_string(task.priority) + " G=" + std::to_string(task.group) +
         " O=" + std::to_string(task.offset) + " J=" + std::to_string(task.lag);
}

inline std::string describe(const ExhaustiveSet& set) {
  const Costs& costs = set.costs;
  const CoreLimits& core = set.core;
  std::string result = set.policy + " dispatch " + std::to_string(costs.dispatch) + " preemption " +
                       std::to_string(costs.preemption) + " release " +
                       std::to_string(costs.release) + " publish " + std::to_string(costs.publish) +
                       " deliver " + std::to_string(costs.deliver);
  result += " supply " + std::to_string(core.budget) + "/" + std::to_string(core.period) +
            " rate " + std::to_string(core.rate) + "/" + std::to_string(core.rate_of) + " delay " +
            std::to_string(core.delay) + " interrupts " + std::to_string(core.interrupt_duration) +
            "/" + std::to_string(core.interrupt_period) + "x" + std::to_string(core.burst);
  for (const ExhaustiveTask& entry : set.tasks) {
    result += "\n  " + describe(entry.task);
    result += entry.suspension > 0 ? " S=" + std::to_string(entry.suspension) + " in " +
                                         std::to_string(entry.suspensions)
                                   : "";
    result += entry.trigger.writers.empty() ? "" : " released by" + describe(entry.trigger);
    for (const Input& input : entry.reads) {
      result += " reads" + describe(input);
    }
    result += entry.messages == 1 ? "" : " messages " + std::to_string(entry.messages);
    result += entry.anywhere ? " publishes anywhere" : "";
    result += entry.join == 0 ? "" : " joins " + std::to_string(entry.join);
    result += entry.drop == Drop::nothing ? "" : entry.drop == Drop::stale ? " skip" : " queue_one";
    result += entry.other ? " or " + describe(*entry.other) : "";
  }
  for (const std::size_t task : set.chain) {
    result += (task == set.chain.front() ? "\n  chain " : " ") + name_of(task);
  }
  return result + (set.max_latency > 0 ? " in " + std::to_string(set.max_latency) : "");
}

}  // namespace takt::analysis
