// SPDX-License-Identifier: Apache-2.0
//
// Random robots of few callbacks whose times are a few ticks, so that many runs are short: two or
// three processes on one or two cores, of one or two hosts, with threads beside their executors,
// quotas, reservations, overheads, links and chains.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/random_tasks.hpp"
#include "takt/application/application.hpp"

namespace takt::analysis {

class SmallRobots : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  application::Application draw() {
    robot_ = {.name = "small"};
    add_processes();
    if (chance(0.4)) {
      robot_.overheads = {.dispatch = ticks(0, 1),
                          .preemption = ticks(0, 2),
                          .release = ticks(0, 2),
                          .publish = ticks(0, 1),
                          .deliver = ticks(0, 1)};
    }
    const std::int64_t callbacks = number(2, 5);
    for (std::int64_t i = 0; i < callbacks; ++i) {
      add_callback();
    }
    add_chain();
    add_threads();
    return robot_;
  }

 private:
  nanoseconds ticks(std::int64_t least, std::int64_t most) {
    return nanoseconds{number(least, most)};
  }

  application::ExecutionTime execution(std::int64_t most) {
    const nanoseconds worst = ticks(1, most);
    const nanoseconds best = chance(0.5) ? worst : ticks(1, worst.count());
    return {.best = best, .worst = worst, .quantiles = {best, worst}};
  }

  int take_priority() {
    int priority = 0;
    do {
      priority = static_cast<int>(number(1, 98));
    } while (std::ranges::find(taken_, priority) != taken_.end());
    taken_.push_back(priority);
    return priority;
  }

  void add_processes() {
    constexpr std::array policies = {"fp",
                                     "np-fp",
                                     "edf",
                                     "np-edf",
                                     "rclcpp_single_threaded",
                                     "rclcpp_events",
                                     "rclcpp_multi_threaded",
                                     "rclcpp_events_cbg"};
    const std::int64_t count = number(1, 3);
    const bool hosts = chance(0.25);
    const std::int64_t cores = number(1, 2);
    for (std::int64_t i = 0; i < count; ++i) {
      application::Process process{
          .name = "p" + std::to_string(i),
          .policy = policies.at(static_cast<std::size_t>(number(0, policies.size() - 1))),
          .cpu = static_cast<int>(number(0, cores - 1))};
      if (hosts) {
        process.host = chance(0.5) ? "base" : "arm";
      }
      if (chance(0.15) && reserve(process)) {
      } else if (i == 0 && chance(0.25)) {  // two would share their core by weights
        process.nice = 0;
        if (chance(0.7)) {
          const nanoseconds period = ticks(6, 12);
          process.quota = {.budget = ticks(3, period.count() - 1), .period = period};
        }
      } else {
        process.priority = take_priority();
        const bool threads =
            process.policy == "rclcpp_multi_threaded" || process.policy == "rclcpp_events_cbg";
        if (threads ? chance(0.8) : !process.policy.starts_with("rclcpp") && chance(0.2)) {
          process.cpus = {0, 1};
          process.cpu = 0;
        }
      }
      robot_.processes.push_back(process);
    }
    const std::int64_t most = chance(0.6) ? number(0, 4) : 0;
    robot_.handover = {.least = ticks(0, most), .most = nanoseconds{most}};
    const auto has = [&](const char* host) {
      return std::ranges::find(robot_.processes, host, &application::Process::host) !=
             robot_.processes.end();
    };
    if (hosts && has("base") && has("arm")) {
      const std::int64_t way = number(0, 5);
      robot_.links.push_back({.hosts = {"base", "arm"},
                              .handover = {.least = ticks(0, way), .most = nanoseconds{way}},
                              .loss = chance(0.2) ? 100'000 : 0,
                              .drift = chance(0.3) ? number(1, 200'000) : 0});
    }
  }

  // Whether there is some of the core left for a reservation.
  bool reserve(application::Process& process) {
    const nanoseconds period = ticks(6, 12);
    const nanoseconds runtime = ticks(2, period.count() - 2);
    const nanoseconds deadline = chance(0.5) ? period : ticks(runtime.count(), period.count());
    double& reserved = reserved_[{process.host, process.cpu}];
    const double share =
        static_cast<double>(runtime.count()) / static_cast<double>(deadline.count());
    if (reserved + share > 1) {
      return false;
    }
    reserved += share;
    process.reservation = {.runtime = runtime, .deadline = deadline, .period = period};
    return true;
  }

  std::string any_topic() {
    const auto last = static_cast<std::int64_t>(robot_.topics.size()) - 1;
    return robot_.topics[static_cast<std::size_t>(number(0, last))].name;
  }

  void add_callback() {
    constexpr std::array<std::int64_t, 8> periods = {6, 8, 10, 12, 15, 18, 20, 24};
    const std::size_t index = robot_.callbacks.size();
    const bool timer = index == 0 || chance(0.6);
    application::Callback callback;
    sched::Task& task = callback.task;
    task.name = "c" + std::to_string(index);
    callback.node = task.name;
    callback.process =
        static_cast<std::size_t>(number(0, static_cast<std::int64_t>(robot_.processes.size()) - 1));
    const std::int64_t period = periods.at(static_cast<std::size_t>(number(0, periods.size() - 1)));
    callback.execution = execution(std::max<std::int64_t>(1, timer ? period / 5 : 2));
    task.parameters.expected_execution = callback.execution.worst;
    task.parameters.priority = static_cast<int>(1 + index);
    task.parameters.overrun =
        timer && chance(0.4) ? sched::Overrun::skip : sched::Overrun::catch_up;
    if (timer) {
      task.any_offset = true;
      task.parameters.period = nanoseconds{period};
      task.parameters.deadline = nanoseconds{period};
      callback.jitter = chance(0.2) ? ticks(1, 4) : nanoseconds{0};
    } else {
      task.kind = sched::TaskKind::message;
      task.trigger = any_topic();
      task.parameters.deadline = ticks(6, 24);
      if (chance(0.15)) {
        task.parameters.overrun = sched::Overrun::skip;
      }
    }
    if (timer && index > 0 && chance(0.7)) {
      task.reads.push_back({.topic = any_topic()});
    }
    if (chance(0.2) && robot_.processes[callback.process].policy == "fp") {
      task.waits = true;
      callback.suspension = ticks(1, 3);
      callback.suspensions = number(1, 2);
    }
    if (!task.waits && chance(0.2)) {
      task.group = "g" + std::to_string(callback.process);
      callback.node = task.group;
      if (robot_.processes[callback.process].cpus.size() > 1 &&
          !robot_.processes[callback.process].policy.starts_with("rclcpp")) {
        task.cpu = 0;
      }
    }
    const std::string topic = "t" + std::to_string(index);
    task.writes.push_back(topic);
    if (timer && index > 1 && chance(0.2)) {  // it has two writers then
      task.writes.push_back(any_topic());
    }
    robot_.topics.push_back(
        {.name = topic, .depth = chance(0.2) ? std::size_t{2} : std::size_t{16}});
    robot_.callbacks.push_back(std::move(callback));
  }

  // The longest way to the last callback that has data of another one.
  void add_chain() {
    for (std::size_t i = robot_.callbacks.size(); i-- > 0;) {
      application::Chain chain{.name = "to c" + std::to_string(i)};
      for (std::size_t at = i;;) {
        const sched::Task& task = robot_.callbacks[at].task;
        chain.callbacks.insert(chain.callbacks.begin(), task.name);
        const std::string topic = !task.trigger.empty() ? task.trigger
                                  : task.reads.empty()  ? ""
                                                        : task.reads.front().topic;
        if (topic.empty()) {
          break;
        }
        at = static_cast<std::size_t>(std::stoul(topic.substr(1)));
      }
      if (chain.callbacks.size() > 1) {
        robot_.chains.push_back(chain);
      }
    }
  }

  void add_threads() {
    for (std::size_t i = 0; i < robot_.processes.size(); ++i) {
      application::Process& process = robot_.processes[i];
      const auto thread = [&](const char* name) {
        application::Thread result{.name = name, .priority = take_priority()};
        if (chance(0.3)) {
          result.cpu = static_cast<int>(number(0, 1));
        }
        return result;
      };
      if (chance(0.25)) {
        application::Thread dds = thread("dds");
        for (const application::Topic& topic : robot_.topics) {
          const bool comes =
              std::ranges::any_of(robot_.callbacks,
                                  [&](const application::Callback& one) {
                                    const bool reads = one.task.trigger == topic.name ||
                                                       std::ranges::find(one.task.reads, topic.name,
                                                                         &sched::Read::topic) !=
                                                           one.task.reads.end();
                                    return one.process == i && reads;
                                  }) &&
              std::ranges::none_of(robot_.callbacks, [&](const application::Callback& one) {
                return one.process == i &&
                       std::ranges::find(one.task.writes, topic.name) != one.task.writes.end();
              });
          if (comes && chance(0.8)) {
            dds.receives.push_back({.topic = topic.name, .execution = execution(2)});
          }
        }
        if (!dds.receives.empty()) {
          process.threads.push_back(std::move(dds));
        }
      }
      if (chance(0.12)) {
        application::Thread driver = thread("driver");
        driver.period = ticks(8, 24);
        driver.jitter = chance(0.5) ? ticks(0, 4) : nanoseconds{0};
        driver.execution = execution(2);
        process.threads.push_back(std::move(driver));
      }
    }
  }

  application::Application robot_;
  std::vector<int> taken_;                                  // priorities
  std::map<std::pair<std::string, int>, double> reserved_;  // of each core
};

}  // namespace takt::analysis
