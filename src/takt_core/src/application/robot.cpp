// SPDX-License-Identifier: Apache-2.0
#include "robot.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "../sched/stock_executor.hpp"
#include "../sched/text.hpp"
#include "own_subscriptions.hpp"
#include "takt/application/compile.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/policies.hpp"

namespace takt::application {
namespace {

using std::ranges::any_of;
using std::ranges::find;

constexpr int most_priority = 98;

bool writes(const Callback& callback, const std::string& topic) {
  return find(callback.task.writes, topic) != callback.task.writes.end();
}

[[noreturn]] void refuse(const std::string& where, const std::string& what,
                         const std::string& fix) {
  throw sched::ScheduleError(where, what, fix);
}

void check_processes(const Application& application) {
  std::map<std::pair<int, int>, std::string> bands;
  std::map<std::string, int> names;
  for (const Process& process : application.processes) {
    const std::string where = "process " + sched::name_text(process.name);
    if (!names.emplace(process.name, 0).second) {
      refuse(where, "there are two of this name", "give each process a name of its own");
    }
    if (process.cpu < 0) {
      refuse(where, "its core is negative", "give the number of a core: cpu: 0");
    }
    if (process.priority < 1 || process.priority > most_priority) {
      refuse(where, "its priority is " + std::to_string(process.priority),
             "give the real-time priority of its thread, from 1 to 98");
    }
    const auto [known, added] =
        bands.emplace(std::pair{process.cpu, process.priority}, process.name);
    if (!added) {
      refuse(where,
             "it has the same core and priority as process " + sched::name_text(known->second) +
                 ", so nothing says which of them runs first",
             "give them different priorities or cores");
    }
    if (!sched::stock_executor(process.policy) &&
        !sched::parse_policy(process.policy)->work_conserving()) {
      refuse(
          where,
          "policy " + sched::name_text(process.policy) +
              " leaves the core idle while jobs wait, which has no bound next to other processes",
          "use a policy that does not, such as np-fp or np-edf");
    }
  }
}

void check_callbacks(const Application& application) {
  std::map<std::string, std::size_t> groups;
  for (const Callback& callback : application.callbacks) {
    const std::string where = sched::task_text(callback.task);
    if (callback.task.waits) {
      refuse(where, "it has a suspension, which is not analysed in a robot of several processes",
             "count the time in its wcet, or describe its process alone");
    }
    if (callback.task.cpu != -1) {
      refuse(where, "it names a core, and it belongs to a process", "remove cpu");
    }
    if (any_of(callback.task.reads,
               [](const sched::Read& read) { return read.max_age.count() > 0; })) {
      refuse(where, "it has a maximum age, which is not kept in a robot of several processes",
             "remove max_age, or limit a chain by max_latency");
    }
    const auto [known, added] = groups.emplace(callback.task.group, callback.process);
    if (!callback.task.group.empty() && !added && known->second != callback.process) {
      refuse(where,
             "its group " + sched::name_text(callback.task.group) +
                 " has callbacks of another process, which no executor keeps apart",
             "give each process groups of its own");
    }
  }
}

// Its name stays, so that chains and traces find it.
sched::Task vacant(const sched::Task& task, int cpu) {
  sched::Task result;
  result.name = task.name;
  result.cpu = cpu;
  result.parameters.period = std::chrono::milliseconds{1};
  result.parameters.expected_execution = nanoseconds{1};
  result.parameters.priority = 1;
  result.parameters.active = false;
  result.vacant = true;
  return result;
}

// The topics that come to the process from elsewhere.
std::vector<std::string> external_topics(const Application& application, std::size_t process) {
  std::vector<std::string> names;
  for (const Topic& topic : application.topics) {
    if (topic.external || comes_from_elsewhere(application, topic.name, process)) {
      names.push_back(topic.name);
    }
  }
  return names;
}

}  // namespace

const std::string& policy_of(const Application& application, const Callback& callback) {
  return application.processes.empty() ? application.policy
                                       : application.processes[callback.process].policy;
}

void check_robot(const Application& application) {
  if (application.processes.empty()) {
    return;
  }
  check_processes(application);
  check_callbacks(application);
  if (application.strategy) {
    refuse("the processes", "a robot of several processes has no scenarios yet",
           "remove scenarios, default_scenario and switches");
  }
  if (!application.cores.empty()) {
    refuse("the processes", "a robot of several processes has no declared cores yet",
           "remove cores, or describe the processes one by one");
  }
}

bool comes_from_elsewhere(const Application& application, const std::string& topic,
                          std::size_t process) {
  return any_of(application.callbacks, [&](const Callback& callback) {
    return callback.process != process && writes(callback, topic);
  });
}

Application with_handover(const Application& application) {
  Application result = with_own_subscriptions(application);
  for (Callback& callback : result.callbacks) {
    if (callback.task.kind == sched::TaskKind::message &&
        comes_from_elsewhere(result, callback.task.trigger, callback.process)) {
      callback.jitter += result.handover.most;
      callback.least_jitter = result.handover.least;
    }
  }
  return result;
}

sched::CompiledStrategy compile_robot(const Application& application) {
  std::vector<sched::Task> tasks = application.tasks();
  std::vector<int> cpus;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].cpu = application.processes[application.callbacks[i].process].cpu;
    if (find(cpus, tasks[i].cpu) == cpus.end()) {
      cpus.push_back(tasks[i].cpu);
    }
  }
  return sched::CompiledStrategy{std::move(tasks),
                                 sched::stock_executor(sched::arrival_order_name),
                                 {.cpus = cpus, .external_topics = application.external_topics()}};
}

sched::CompiledStrategy compile_process(const Application& application, std::size_t process) {
  const Process& own = application.processes[process];
  const int elsewhere = own.cpu + 1;
  std::vector<sched::Task> tasks = application.tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (application.callbacks[i].process == process) {
      tasks[i].cpu = own.cpu;
    } else {
      tasks[i] = vacant(tasks[i], elsewhere);
    }
  }
  const sched::PolicyPtr stock = sched::stock_executor(own.policy);
  return sched::CompiledStrategy{
      std::move(tasks),
      stock ? stock : sched::parse_policy(own.policy),
      {.cpus = {own.cpu, elsewhere}, .external_topics = external_topics(application, process)}};
}

Application process_of(const Application& application, std::size_t process) {
  Application result = application;
  const Process& own = application.processes[process];
  result.processes.clear();
  result.handover = {};
  result.chains.clear();
  result.policy = own.policy;
  result.cpus = {own.cpu};
  std::erase_if(result.callbacks,
                [&](const Callback& callback) { return callback.process != process; });
  for (Callback& callback : result.callbacks) {
    callback.process = 0;
  }
  for (Topic& topic : result.topics) {
    topic.external = topic.external || comes_from_elsewhere(application, topic.name, process);
  }
  return result;
}

}  // namespace takt::application
