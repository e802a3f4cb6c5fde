// SPDX-License-Identifier: Apache-2.0
//
// Callbacks whose jobs may run at the same time. A timer's lanes are released in turn by their
// periods and offsets; those of a subscription by takt/sched/turns.hpp. Under rclcpp's
// MultiThreadedExecutor there are no lanes: any free thread takes the next job.
#include "parse_lanes.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "../sched/stock_executor.hpp"
#include "../sched/text.hpp"
#include "own_subscriptions.hpp"
#include "process_cores.hpp"
#include "robot.hpp"
#include "takt/os/saturating.hpp"
#include "takt/sched/error.hpp"

namespace takt::application {
namespace {

[[noreturn]] void refuse(const Callback& callback, const std::string& what,
                         const std::string& fix) {
  throw sched::ScheduleError(sched::task_text(callback.task),
                             "several of its jobs may run at once" + what, fix);
}

// Each core of a process is one more process, to which all messages come: lanes would need turns.
void check_robot(const Process& process, const Callback& callback, std::size_t lanes) {
  if (callback.task.kind != sched::TaskKind::timer || callback.task.waits) {
    refuse(callback, ", which is analysed of timers that do not wait only in processes of a robot",
           "remove at_once, or describe its process alone");
  }
  if (sched::stock_executor(process.policy)) {
    refuse(callback, ", and its executor is " + process.policy,
           "remove at_once, or use rclcpp_multi_threaded or the executor 'takt'");
  }
  if (lanes > cores_of(process).size()) {
    refuse(callback, ", " + std::to_string(lanes) + " of them, and its process has fewer cores",
           "lower at_once, or name more cores of the process in cpus");
  }
}

// What neither lanes nor a Reentrant group have.
void check_company(const Callback& callback) {
  if (!callback.task.group.empty()) {
    refuse(callback, ", and it is in an exclusive group", "remove at_once or group");
  }
  if (!callback.join.empty()) {
    refuse(callback, ", and it belongs to a join", "remove at_once or join");
  }
}

// rclcpp limits the jobs of a Reentrant group by nothing but the threads of the executor.
void check_reentrant(const Application& application, const Callback& callback,
                     std::size_t at_once) {
  if (!callback.task.reads.empty()) {
    refuse(callback, ", and it reads a topic, which other jobs of it may receive meanwhile",
           "remove at_once or reads, or let the topic release it: on");
  }
  if (callback.task.waits) {
    refuse(callback, ", which is not analysed of callbacks that wait in a thread of rclcpp",
           "remove at_once, suspension and segments, or use the executor 'takt'");
  }
  for (const Callback& other : application.callbacks) {
    if (&other != &callback && callback.task.kind == sched::TaskKind::message &&
        other.node_name() == callback.node_name() &&
        (other.task.trigger == callback.task.trigger ||
         std::ranges::count(other.task.reads, callback.task.trigger, &sched::Read::topic) > 0)) {
      refuse(callback,
             ", and " + sched::name_text(other.task.name) + " of its node hears the same topic",
             "remove at_once, or move one of both to another node");
    }
  }
  const std::size_t threads = threads_of(application, callback);
  if (at_once < threads) {
    refuse(callback,
           ", " + std::to_string(at_once) + " of them, and its executor has " +
               std::to_string(threads) +
               " threads: in a Reentrant group of rclcpp each of them may run one",
           "set at_once to " + std::to_string(threads) + " or more, or name fewer cpus");
  }
}

void check_lanes(const Application& application, const Callback& callback, std::size_t lanes) {
  if (policy_of(application, callback) == sched::group_turns_name) {
    refuse(callback,
           ", and rclcpp_events_cbg treats a Reentrant group as a mutually exclusive one "
           "(rclcpp 29.5.9)",
           "remove at_once, or use rclcpp_multi_threaded or the executor 'takt'");
  }
  if (!application.processes.empty()) {
    check_robot(application.processes[callback.process], callback, lanes);
    return;
  }
  if (has_stock_executor(application)) {
    refuse(callback, ", and its executor has one thread",
           "remove at_once, or use rclcpp_multi_threaded or the executor 'takt'");
  }
  const bool apart = callback.task.cpu < 0;
  if (!callback.task.waits && (!apart || lanes > application.cpus.size())) {
    refuse(callback,
           apart ? ", " + std::to_string(lanes) + " of them, and cpus names fewer cores"
                 : ", and it has one core",
           apart ? "lower at_once, or name more cores in cpus" : "remove at_once or cpu");
  }
}

Callback lane_of(const Callback& callback, std::size_t lane, std::size_t lanes) {
  Callback result = callback;
  sched::TaskParameters& parameters = result.task.parameters;
  result.lane = lane;
  result.lanes = lanes;
  result.task.lane_of = callback.task.name;
  if (lane > 0) {
    result.task.name += "#" + std::to_string(lane + 1);
  }
  if (parameters.deadline.count() == 0) {
    parameters.deadline = parameters.period;
  }
  if (callback.task.kind == sched::TaskKind::timer) {
    const auto count = static_cast<std::int64_t>(lanes);
    const auto number = static_cast<std::int64_t>(lane);
    parameters.offset =
        os::add_sat(parameters.offset, os::mul_sat(callback.task.parameters.period, number));
    parameters.period = os::mul_sat(callback.task.parameters.period, count);
  }
  return result;
}

// A change of a callback is one of each of its lanes.
void add_changes(const std::vector<Callback>& callbacks, const sched::TaskChange& change,
                 sched::SchedulingScenario& scenario) {
  bool known = false;
  for (const Callback& callback : callbacks) {
    if (callback.task.lane_of != change.task) {
      continue;
    }
    known = true;
    if (callback.task.kind == sched::TaskKind::timer && (change.period || change.offset)) {
      refuse(callback, ", and a scenario changes when they are released",
             "remove timer and offset from the scenario, or remove at_once");
    }
    sched::TaskChange of_lane = change;
    of_lane.task = callback.task.name;
    scenario.add_task(std::move(of_lane));
  }
  if (!known) {
    scenario.add_task(change);
  }
}

sched::SchedulingStrategy with_lanes(const sched::SchedulingStrategy& strategy,
                                     const std::vector<Callback>& callbacks) {
  sched::SchedulingStrategy result;
  for (const sched::ScenarioPtr& scenario : strategy.scenarios()) {
    sched::SchedulingScenario changed{scenario->name()};
    if (scenario->policy()) {
      changed.set_scheduling_policy(scenario->policy());
    }
    for (const sched::TaskChange& change : scenario->tasks()) {
      add_changes(callbacks, change, changed);
    }
    result.add_scenario(std::move(changed));
  }
  result.set_default_scenario(strategy.scenarios()[strategy.default_scenario()]->name());
  return result;
}

void refuse_chains(const Application& application) {
  for (const Callback& callback : application.callbacks) {
    for (const Chain& chain : application.chains) {
      if (std::ranges::count(chain.callbacks, callback.task.lane_of) > 0) {
        refuse(callback,
               ", so newer data may come before older, and it is in chain " +
                   sched::name_text(chain.name),
               "remove at_once, or let the chain end before it");
      }
    }
  }
}

}  // namespace

void add_lanes(Application& application, const std::vector<std::size_t>& at_once) {
  if (std::ranges::all_of(at_once, [](std::size_t lanes) { return lanes == 1; })) {
    return;
  }
  std::vector<Callback> callbacks;
  for (std::size_t i = 0; i < at_once.size(); ++i) {
    const Callback& callback = application.callbacks[i];
    if (at_once[i] == 1) {
      callbacks.push_back(callback);
      continue;
    }
    check_company(callback);
    if (policy_of(application, callback) == sched::threads_name) {
      check_reentrant(application, callback, at_once[i]);
      callbacks.push_back(callback);
      callbacks.back().reentrant = true;
      continue;
    }
    check_lanes(application, callback, at_once[i]);
    for (std::size_t lane = 0; lane < at_once[i]; ++lane) {
      callbacks.push_back(lane_of(callback, lane, at_once[i]));
    }
  }
  application.callbacks = std::move(callbacks);
  refuse_chains(application);
  if (application.strategy && !application.strategy->scenarios().empty()) {
    application.strategy = with_lanes(*application.strategy, application.callbacks);
  }
}

}  // namespace takt::application
