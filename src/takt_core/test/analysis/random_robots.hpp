// SPDX-License-Identifier: Apache-2.0
//
// Random robots of several processes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>

#include "analysis/random_tasks.hpp"
#include "analysis/simulated_applications.hpp"

namespace takt::analysis {

// Each process on one of three hosts, with links between all.
inline void add_hosts(application::Application& robot, RandomTasks& random) {
  constexpr std::array hosts = {"arm", "base", "head"};
  if (!random.chance(0.4)) {
    return;
  }
  for (application::Process& process : robot.processes) {
    process.host = hosts.at(static_cast<std::size_t>(random.number(0, hosts.size() - 1)));
  }
  const auto has = [&](const char* host) {
    return std::ranges::find(robot.processes, host, &application::Process::host) !=
           robot.processes.end();
  };
  for (std::size_t one = 0; one < hosts.size(); ++one) {
    for (std::size_t other = one + 1; other < hosts.size(); ++other) {
      if (has(hosts.at(one)) && has(hosts.at(other))) {
        const std::int64_t most = random.number(0, 3000);
        robot.links.push_back({.hosts = {hosts.at(other), hosts.at(one)},
                               .handover = {.least = nanoseconds{1000 * random.number(0, most)},
                                            .most = nanoseconds{1000 * most}},
                               .loss = random.chance(0.3) ? random.number(1, 999'999) : 0,
                               .drift = random.chance(0.3) ? random.number(1, 1000) : 0});
      }
    }
  }
}

inline bool reads(const application::Callback& callback, const std::string& topic) {
  return (callback.task.kind == sched::TaskKind::message && callback.task.trigger == topic) ||
         std::ranges::find(callback.task.reads, topic, &sched::Read::topic) !=
             callback.task.reads.end();
}

// Some processes have a thread that receives topics, and some a driver.
inline void add_threads(application::Application& robot, RandomTasks& random) {
  const auto execution = [&] {
    const std::int64_t worst = random.number(1, 200);
    const nanoseconds best{1000 * random.number(1, worst)};
    return application::ExecutionTime{
        .best = best, .worst = nanoseconds{1000 * worst}, .quantiles = {best, 1000ns * worst}};
  };
  std::set<int> priorities;  // one for each, whatever its core
  for (const application::Process& process : robot.processes) {
    priorities.insert(process.priority);
  }
  const auto thread = [&](const char* name) {
    application::Thread result{.name = name, .priority = static_cast<int>(random.number(1, 98))};
    while (!priorities.insert(result.priority).second) {
      result.priority = result.priority % 98 + 1;
    }
    if (random.chance(0.3)) {
      result.cpu = static_cast<int>(random.number(0, 1));
    }
    return result;
  };
  for (std::size_t i = 0; i < robot.processes.size(); ++i) {
    const auto any = [&](auto&& condition) {
      return std::ranges::any_of(robot.callbacks, [&](const application::Callback& one) {
        return one.process == i && condition(one);
      });
    };
    if (random.chance(0.4)) {
      application::Thread dds = thread("dds");
      for (const application::Topic& topic : robot.topics) {
        if (any([&](const auto& one) { return reads(one, topic.name); }) &&
            !any([&](const auto& one) {
              return std::ranges::find(one.task.writes, topic.name) != one.task.writes.end();
            }) &&
            random.chance(0.8)) {
          dds.receives.push_back({.topic = topic.name, .execution = execution()});
        }
      }
      if (!dds.receives.empty()) {
        robot.processes[i].threads.push_back(std::move(dds));
      }
    }
    if (random.chance(0.2)) {
      application::Thread driver = thread("driver");
      driver.period = nanoseconds{1000 * random.number(1000, 20'000)};
      driver.jitter = random.chance(0.5) ? nanoseconds{1000 * random.number(0, 2000)} : 0ns;
      driver.execution = execution();
      robot.processes[i].threads.push_back(std::move(driver));
    }
  }
}

// Some executors of Takt have a thread on each core, and some of their callbacks name theirs.
inline void spread(application::Application& robot, std::uint64_t seed) {
  RandomTasks random{seed + 77'000'000};
  for (std::size_t i = 0; i < robot.processes.size(); ++i) {
    application::Process& process = robot.processes[i];
    if (process.policy.starts_with("rclcpp") || !random.chance(0.4)) {
      continue;
    }
    process.cpus = {0, 1};
    process.cpu = 0;
    for (application::Callback& callback : robot.callbacks) {
      const bool tied = !callback.task.group.empty() || seed % 2 == 0;  // by the age of data
      if (callback.process == i && !tied && random.chance(0.3)) {
        callback.task.cpu = static_cast<int>(random.number(0, 1));
      }
    }
  }
}

// Some executors of rclcpp have threads, on one core or on both.
inline void give_threads(application::Application& robot, std::uint64_t seed) {
  RandomTasks random{seed + 99'000'000};
  for (std::size_t i = 0; i < robot.processes.size(); ++i) {
    application::Process& process = robot.processes[i];
    const bool holds_locks =
        std::ranges::any_of(robot.callbacks, [&](const application::Callback& one) {
          return one.process == i && !one.critical_sections.empty();
        });
    if (!process.policy.starts_with("rclcpp") || holds_locks || !random.chance(0.5)) {
      continue;
    }
    process.policy = random.chance(0.5) ? "rclcpp_multi_threaded" : "rclcpp_events_cbg";
    if (random.chance(0.8)) {
      process.cpus = {0, 1};
      process.cpu = 0;
    }
    for (application::Callback& callback : robot.callbacks) {
      if (callback.process == i && !callback.task.group.empty()) {
        callback.node = callback.task.group;  // a group is of one node
      }
    }
  }
}

// A random application, split over processes.
inline application::Application random_robot(std::uint64_t seed) {
  constexpr std::array policies = {
      "fp", "np-fp", "edf", "np-edf", "rclcpp_single_threaded", "rclcpp_events"};
  RandomTasks random{seed};
  application::Application robot = RandomApplication{seed}.make();
  const std::int64_t processes = random.number(1, 3);
  const std::int64_t cores = random.number(1, 2);
  for (std::int64_t i = 0; i < processes; ++i) {
    robot.processes.push_back(
        {.name = "p" + std::to_string(i),
         .policy = policies.at(static_cast<std::size_t>(random.number(0, policies.size() - 1))),
         .cpu = static_cast<int>(random.number(0, cores - 1)),
         .priority = static_cast<int>(10 + (7 * i + random.number(0, 2) * 20) % 60 + i)});
  }
  const std::int64_t most = random.chance(0.7) ? random.number(0, 300) : 0;
  robot.handover = {.least = nanoseconds{1000 * random.number(0, most)},
                    .most = nanoseconds{1000 * most}};
  add_hosts(robot, random);
  const bool loses = random.chance(0.3);
  for (application::Callback& callback : robot.callbacks) {
    if (loses && callback.task.kind == sched::TaskKind::message && random.chance(0.7)) {
      callback.task.parameters.overrun = sched::Overrun::skip;
    }
    callback.process = static_cast<std::size_t>(random.number(0, processes - 1));
    callback.task.cpu = -1;
    if (!callback.task.group.empty()) {
      callback.task.group += std::to_string(callback.process);
    }
    for (sched::Read& read : callback.task.reads) {
      read.max_age = seed % 2 == 0 ? read.max_age : nanoseconds{0};
    }
  }
  for (application::Topic& topic : robot.topics) {
    topic.depth = loses ? static_cast<std::size_t>(random.number(1, 3)) : topic.depth;
  }
  spread(robot, seed);
  give_threads(robot, seed);
  add_threads(robot, random);
  return robot;
}

inline std::string describe_robot(const application::Application& robot) {
  std::string text = describe(robot) + "handover " + std::to_string(robot.handover.least.count()) +
                     ".." + std::to_string(robot.handover.most.count()) + "\n";
  for (const application::Process& process : robot.processes) {
    text += process.name + " " + process.policy + " host " + process.host + " cpu " +
            std::to_string(process.cpu) + (process.cpus.empty() ? "" : " and others") +
            " priority " + std::to_string(process.priority) + "\n";
    for (const application::Thread& thread : process.threads) {
      text += "  " + thread.name + " cpu " + std::to_string(thread.cpu.value_or(process.cpu)) +
              " priority " + std::to_string(thread.priority) + " period " +
              std::to_string(thread.period.count()) + " execution " +
              std::to_string(thread.execution.worst.count()) + " receives";
      for (const application::Receipt& one : thread.receives) {
        text += " " + one.topic + " (" + std::to_string(one.execution.worst.count()) + ")";
      }
      text += "\n";
    }
  }
  for (const application::Link& link : robot.links) {
    text += link.hosts[0] + " to " + link.hosts[1] + " " +
            std::to_string(link.handover.least.count()) + ".." +
            std::to_string(link.handover.most.count()) + " loss " + std::to_string(link.loss) +
            "\n";
  }
  for (const application::Callback& callback : robot.callbacks) {
    text += callback.task.name + " in " + std::to_string(callback.process) + "\n";
  }
  return text;
}

// Holds two simulations of a robot, one with worst and one with drawn times, against its bounds.
inline void hold_against_simulations(const application::Application& robot, std::uint64_t seed,
                                     Tally& tally) {
  const Report report = analyse(robot, {.sensitivity = false});
  SCOPED_TRACE("seed " + std::to_string(seed) + ", " + describe_robot(robot));
  for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
    compare(
        robot, report,
        sim::simulate(
            robot, {.duration = 100ms, .seed = seed, .execution = execution, .percentiles = false}),
        tally);
  }
}

}  // namespace takt::analysis
