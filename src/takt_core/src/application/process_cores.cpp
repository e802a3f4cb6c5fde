// SPDX-License-Identifier: Apache-2.0
#include "process_cores.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "../sched/stock_executor.hpp"
#include "../sched/text.hpp"
#include "kernel_scheduling.hpp"
#include "robot.hpp"
#include "takt/application/compile.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/policies.hpp"
#include "threads.hpp"

namespace takt::application {
namespace {

bool writes(const Callback& callback, const std::string& topic) {
  return std::ranges::find(callback.task.writes, topic) != callback.task.writes.end();
}

void check(const Process& process) {
  // An executor looks ahead to the timers of all its cores.
  if (!sched::parse_policy(process.policy)->work_conserving()) {
    throw sched::ScheduleError(place_text(process),
                               "it has several cores, on which " + process.policy +
                                   ", which leaves them idle on purpose, is not analysed",
                               "give its core: cpu, or use np-fp or np-edf");
  }
  if (!is_fifo(process)) {
    throw sched::ScheduleError(
        place_text(process), "it has several cores, and a nice value is that of one thread",
        "give it a priority, or its core: cpu, or an executor of rclcpp with one thread");
  }
}

// One process, as its executor places it.
class Placement {
 public:
  Placement(const Application& application, std::size_t number)
      : process_(process_of(application, number)) {
    for (Callback& callback : process_.callbacks) {
      if (!callback.join.empty()) {
        tie(callback, "join " + callback.node_name() + "." + callback.join);
      }
      for (const sched::Read& read : callback.task.reads) {
        if (read.max_age.count() > 0) {
          keep_young(callback, read.topic);
        }
      }
    }
  }

  // By callback of the process.
  [[nodiscard]] std::vector<int> cores() const {
    std::vector<int> cores;
    const sched::CompiledStrategy strategy = compile(process_);
    for (const sched::Task& task : strategy.tasks()) {
      cores.push_back(task.cpu);
    }
    return cores;
  }

 private:
  // The executor releases a source early only on the core of its reader.
  void keep_young(Callback& reader, const std::string& topic) {
    const std::string name = "age of " + topic + " at " + reader.task.name;
    tie(reader, name);
    std::vector<std::string> topics{topic};
    for (std::size_t next = 0; next < topics.size(); ++next) {
      for (Callback& writer : process_.callbacks) {
        if (!writes(writer, topics[next])) {
          continue;
        }
        if (writer.task.cpu >= 0 && reader.task.cpu >= 0 && writer.task.cpu != reader.task.cpu) {
          throw sched::ScheduleError(sched::task_text(reader.task),
                                     "it limits the age of topic " + sched::name_text(topic) +
                                         " on core " + std::to_string(reader.task.cpu) + ", and " +
                                         sched::name_text(writer.task.name) + " writes on core " +
                                         std::to_string(writer.task.cpu) +
                                         ": no timer of another core is released early",
                                     "ask for the same core, or remove max_age");
        }
        tie(writer, name);
        const std::string& trigger = writer.task.trigger;
        if (!trigger.empty() && std::ranges::find(topics, trigger) == topics.end()) {
          topics.push_back(trigger);
        }
      }
    }
  }

  // As place() keeps those who take a lock on one core.
  static void tie(Callback& callback, const std::string& name) {
    std::vector<std::string>& locks = callback.task.locks;
    if (std::ranges::find(locks, name) == locks.end()) {
      locks.push_back(name);
    }
  }

  Application process_;
};

// The place of the process of each core that has callbacks.
std::map<int, std::size_t> add_parts(Application& application, std::size_t number,
                                     const std::vector<int>& used) {
  const std::vector<int> cores = std::exchange(application.processes[number].cpus, {});
  std::map<int, std::size_t> places;
  for (const int core : cores) {
    if (std::ranges::find(used, core) == used.end()) {
      continue;
    }
    Process part = application.processes[number];
    part.cpu = core;
    part.one_of_cores = true;
    if (places.empty()) {
      application.processes[number] = part;
      places[core] = number;
      continue;
    }
    part.serves = std::exchange(part.name, part.name + ".core" + std::to_string(core));
    part.threads.clear();
    places[core] = application.processes.size();
    application.processes.push_back(std::move(part));
  }
  return places;
}

void split(Application& application, std::size_t number) {
  check(application.processes[number]);
  const std::vector<int> cores = Placement{application, number}.cores();
  const std::map<int, std::size_t> places = add_parts(application, number, cores);
  std::size_t next = 0;
  for (Callback& callback : application.callbacks) {
    if (callback.process == number) {
      callback.task.cpu = -1;
      callback.process = places.at(cores[next++]);
    }
  }
}

}  // namespace

Application with_cores(Application application) {
  const std::size_t described = application.processes.size();
  for (std::size_t i = 0; i < described; ++i) {
    const Process& process = application.processes[i];
    if (!process.cpus.empty() && !sched::has_threads(process.policy) && !roams(process)) {
      split(application, i);
    }
  }
  return application;
}

std::vector<int> cores_of(const Process& process) {
  return process.cpus.empty() ? std::vector{process.cpu} : process.cpus;
}

std::size_t threads_of(const Application& application, const Callback& callback) {
  return application.processes.empty() ? application.cpus.size()
                                       : cores_of(application.processes[callback.process]).size();
}

bool roams(const Process& process) {
  return !process.cpus.empty() && !sched::has_threads(process.policy) &&
         (process.reservation || sched::stock_executor(process.policy));
}

std::vector<int> places_of(const Process& process) {
  return roams(process) ? std::vector{process.cpu} : cores_of(process);
}

void place_reservations(std::vector<Process>& processes) {
  std::map<std::pair<std::string, std::vector<int>>, std::size_t> placed;
  for (Process& process : processes) {
    if (process.reservation && roams(process)) {
      std::size_t& number = placed[{process.host, process.cpus}];
      process.cpu = process.cpus[number++ % process.cpus.size()];
    }
  }
}

const std::string& family_of(const Process& process) {
  return process.serves.empty() ? process.name : process.serves;
}

}  // namespace takt::application
