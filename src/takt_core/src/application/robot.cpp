// SPDX-License-Identifier: Apache-2.0
#include "robot.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "../sched/stock_executor.hpp"
#include "../sched/text.hpp"
#include "kernel_scheduling.hpp"
#include "own_subscriptions.hpp"
#include "process_cores.hpp"
#include "requests.hpp"
#include "robot_scenarios.hpp"
#include "takt/application/callback_groups.hpp"
#include "takt/application/compile.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/policies.hpp"
#include "threads.hpp"

namespace takt::application {
namespace {

using std::ranges::any_of;
using std::ranges::find;

[[noreturn]] void refuse(const std::string& where, const std::string& what,
                         const std::string& fix) {
  throw sched::ScheduleError(where, what, fix);
}

void check_hosts(const Application& application) {
  const auto has_host = [](const Process& process) { return !process.host.empty(); };
  const bool named = any_of(application.processes, has_host);
  for (const Process& process : application.processes) {
    if (named && process.host.empty()) {
      refuse(place_text(process), "it has no host, and others have one",
             "give the host of each process");
    }
  }
  std::set<std::set<std::string>> pairs;
  for (const Link& link : application.links) {
    const std::string where =
        "link " + sched::name_text(link.hosts[0]) + " to " + sched::name_text(link.hosts[1]);
    for (const std::string& host : link.hosts) {
      if (host.empty() ||
          find(application.processes, host, &Process::host) == application.processes.end()) {
        refuse(where, "no process runs on host " + sched::name_text(host),
               "give host: in the processes that run there, or correct its name");
      }
    }
    if (link.hosts[0] == link.hosts[1]) {
      refuse(where, "both ends are the same host", "name two hosts; within one, middleware counts");
    }
    if (!pairs.insert({link.hosts[0], link.hosts[1]}).second) {
      refuse(where, "there are two links between these hosts", "keep one of them");
    }
  }
}

bool sends_as_topic(const Callback& writer, const std::string& topic) {
  return find(writer.task.writes, topic) != writer.task.writes.end();
}

void check_ways(const Application& application, const Callback& reader) {
  const Process& own = application.processes[reader.process];
  std::vector<std::string> topics;
  topics.reserve(reader.task.reads.size() + 1);
  for (const sched::Read& read : reader.task.reads) {
    topics.push_back(read.topic);
  }
  if (reader.task.kind == sched::TaskKind::message) {
    topics.push_back(reader.task.trigger);
  }
  for (const Callback& writer : application.callbacks) {
    const Process& other = application.processes[writer.process];
    const auto read = std::ranges::find_if(
        topics, [&](const std::string& topic) { return sends(writer, topic); });
    if (read != topics.end() && between(application, other, own) == nullptr) {
      const bool called = reader.server && !sends_as_topic(writer, *read);
      const std::string reads = reader.in_thread ? "it receives topic " : "it reads topic ";
      const std::string sends = called ? " calls on host " : " requests on host ";
      refuse(reader.in_thread ? place_text(own) : sched::task_text(reader.task),
             (reader.server ? "it answers service " : reads) + service_text(*read) + " on host " +
                 sched::name_text(own.host) + ", which " + sched::name_text(writer.task.name) +
                 (reader.server ? sends : " writes on host ") + sched::name_text(other.host) +
                 ", and there is no link between them",
             "add links: [{hosts: [" + other.host + ", " + own.host + "], latency: [200us, 2ms]}]");
    }
  }
}

void check_processes(const Application& application) {
  std::map<std::tuple<std::string, int, int>, std::string> bands;
  std::map<std::string, int> names;
  for (const Process& process : application.processes) {
    const std::string where = place_text(process);
    if (!names.emplace(process.name, 0).second) {
      refuse(where, "there are two of this name", "give each process a name of its own");
    }
    for (const int cpu : cores_of(process)) {
      if (cpu < 0) {
        refuse(where, "its core is negative", "give the number of a core: cpu: 0");
      }
      if (!is_fifo(process)) {
        continue;
      }
      const auto [known, added] =
          bands.emplace(std::tuple{process.host, cpu, process.priority}, where);
      if (!added) {
        refuse(where,
               "it has the same core and priority as " + known->second +
                   ", so nothing says which of them runs first",
               "give them different priorities or cores");
      }
    }
  }
}

void check_callbacks(const Application& application) {
  std::map<std::string, std::size_t> groups;
  for (const Callback& callback : application.callbacks) {
    const std::string where = sched::task_text(callback.task);
    if (callback.task.cpu != -1) {
      refuse(where, "it names a core, and its process has one",
             "remove cpu, or name the cores of its process: cpus");
    }
    const auto [known, added] = groups.emplace(callback.task.group, callback.process);
    if (!callback.task.group.empty() && !added && known->second != callback.process) {
      refuse(where,
             "its group " + sched::name_text(callback.task.group) +
                 " has callbacks of another process, which no executor keeps apart",
             "give each process groups of its own");
    }
    check_ways(application, callback);
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
  for (const Callback& callback : application.callbacks) {
    if (callback.server) {
      names.push_back(callback.task.trigger);
    }
  }
  return names;
}

}  // namespace

bool sends(const Callback& callback, const std::string& topic) {
  return find(callback.task.writes, topic) != callback.task.writes.end() ||
         find(callback.segments, topic, &Segment::call) != callback.segments.end();
}

const std::string& policy_of(const Application& application, const Callback& callback) {
  return application.processes.empty() ? application.policy
                                       : application.processes[callback.process].policy;
}

void check_robot(const Application& application) {
  if (application.processes.empty()) {
    return;
  }
  const Application all = with_threads(application);
  check_kernel_scheduling(all);
  check_processes(all);
  check_hosts(all);
  check_callbacks(all);
  static_cast<void>(callback_groups(all));
  check_scenarios(all);
}

bool share_core(const Process& left, const Process& right) {
  const std::vector<int> cores = cores_of(right);
  return left.host == right.host &&
         any_of(cores_of(left), [&](int cpu) { return find(cores, cpu) != cores.end(); });
}

int core_number(const Application& application, const Process& process) {
  return core_number(application, process, process.cpu);
}

int core_number(const Application& application, const Process& process, int cpu) {
  int before = 0;
  std::vector<std::string> hosts;
  for (const Process& first : application.processes) {
    if (find(hosts, first.host) != hosts.end()) {
      continue;
    }
    hosts.push_back(first.host);
    if (first.host == process.host) {
      break;
    }
    int last = 0;
    for (const Process& one : application.processes) {
      if (one.host == first.host) {
        last = std::max(last, std::ranges::max(cores_of(one)));
      }
    }
    before += last + 1;
  }
  return before + cpu;
}

const Link* find_link(const Application& application, const Process& left, const Process& right) {
  const auto found = std::ranges::find_if(application.links, [&](const Link& link) {
    return link.hosts == std::array{left.host, right.host} ||
           link.hosts == std::array{right.host, left.host};
  });
  return found == application.links.end() ? nullptr : &*found;
}

const Handover* between(const Application& application, const Process& left, const Process& right) {
  static constexpr Handover at_once{};
  if (left.host == right.host) {
    return belong_together(left, right) ? &at_once : &application.handover;
  }
  const Link* const link = find_link(application, left, right);
  return link == nullptr ? nullptr : &link->handover;
}

Handover handover_to(const Application& application, const Callback& reader) {
  std::optional<Handover> result;
  for (const Callback& writer : application.callbacks) {
    if (writer.process == reader.process || !sends(writer, reader.task.trigger)) {
      continue;
    }
    const Handover* const way = between(application, application.processes[writer.process],
                                        application.processes[reader.process]);
    if (way != nullptr) {
      result = result ? Handover{.least = std::min(result->least, way->least),
                                 .most = std::max(result->most, way->most)}
                      : *way;
    }
  }
  return result.value_or(Handover{});
}

bool comes_from_elsewhere(const Application& application, const std::string& topic,
                          std::size_t process) {
  return any_of(application.callbacks, [&](const Callback& callback) {
    return callback.process != process && sends(callback, topic);
  });
}

Application with_handover(const Application& application) {
  Application result = with_own_subscriptions(with_threads(application));
  for (Callback& callback : result.callbacks) {
    if (callback.task.kind == sched::TaskKind::message &&
        comes_from_elsewhere(result, callback.task.trigger, callback.process)) {
      const Handover way = handover_to(result, callback);
      callback.jitter += way.most;
      callback.least_jitter = way.least;
    }
  }
  return result;
}

sched::CompiledStrategy compile_robot(const Application& application) {
  std::vector<sched::Task> tasks = application.tasks();
  std::vector<int> cpus;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].cpu =
        core_number(application, application.processes[application.callbacks[i].process]);
    tasks[i].waits = false;  // the policy of its own process has a place for that
    for (sched::Read& read : tasks[i].reads) {
      read.max_age = nanoseconds{0};  // which its own process keeps
    }
    if (find(cpus, tasks[i].cpu) == cpus.end()) {
      cpus.push_back(tasks[i].cpu);
    }
  }
  const sched::CompileOptions options{.cpus = cpus,
                                      .external_topics = application.external_topics()};
  const sched::PolicyPtr order = sched::stock_executor(sched::arrival_order_name);
  return application.strategy
             ? sched::CompiledStrategy{std::move(tasks), *application.strategy, order, options}
             : sched::CompiledStrategy{std::move(tasks), order, options};
}

sched::CompiledStrategy compile_process(const Application& application, std::size_t process) {
  const Process& own = application.processes[process];
  const int core = core_number(application, own);
  const int elsewhere = core + 1;
  std::vector<sched::Task> tasks = application.tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (application.callbacks[i].process == process) {
      tasks[i].cpu = core;
    } else {
      tasks[i] = vacant(tasks[i], elsewhere);
    }
  }
  const sched::PolicyPtr stock = sched::stock_executor(own.policy);
  const sched::PolicyPtr policy = stock ? stock : sched::parse_policy(own.policy);
  const sched::CompileOptions options{.cpus = {core, elsewhere},
                                      .external_topics = external_topics(application, process)};
  const auto scenarios = scenarios_of(application, process);
  return scenarios ? sched::CompiledStrategy{std::move(tasks), *scenarios, policy, options}
                   : sched::CompiledStrategy{std::move(tasks), policy, options};
}

Application process_of(const Application& application, std::size_t process) {
  Application result = application;
  const Process& own = application.processes[process];
  result.processes.clear();
  result.handover = {};
  result.links.clear();
  result.chains.clear();
  result.policy = own.policy;
  result.strategy = scenarios_of(application, process);
  result.switches.clear();
  result.cpus = places_of(own);
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
