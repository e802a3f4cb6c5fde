// SPDX-License-Identifier: Apache-2.0
#include "parse_processes.hpp"

#include <algorithm>
#include <string_view>

#include "../sched/check_cores.hpp"
#include "../sched/stock_executor.hpp"
#include "../sched/text.hpp"
#include "kernel_scheduling.hpp"
#include "parse_execution.hpp"
#include "process_cores.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/policies.hpp"
#include "threads.hpp"

namespace takt::application {
namespace {

// Above 0: what takes no time needs no description.
ExecutionTime parse_work(const Json& json, const std::string& path) {
  ExecutionTime execution = parse_execution_time(json, path);
  if (execution.worst.count() <= 0 || execution.worst > sched::longest_time) {
    Object::fail(path + "/worst", "is not a time above 0 of up to 100 years");
  }
  return execution;
}

Thread parse_thread(const Json& json, const std::string& path) {
  Object object{json, path};
  Thread thread;
  object.read("name", thread.name);
  if (thread.name.empty()) {
    Object::fail(object.at("name"), "is not a name");
  }
  object.read("cpu", thread.cpu);
  object.read("priority", thread.priority);
  object.each("receives", [&](const Json& item, const std::string& at) {
    Object one{item, at};
    Receipt& receipt = thread.receives.emplace_back();
    one.read("topic", receipt.topic);
    receipt.execution = parse_work(one.get("execution"), one.at("execution"));
    one.finish();
  });
  object.read("period", thread.period);
  object.read("jitter", thread.jitter);
  for (const auto& [key, time] : {std::pair{"period", thread.period}, {"jitter", thread.jitter}}) {
    if (time.count() < 0) {
      Object::fail(object.at(key), "is negative");
    }
  }
  if (thread.period.count() > 0) {
    thread.execution = parse_work(object.get("execution"), object.at("execution"));
    object.read("writes", thread.writes);
  }
  object.finish();
  return thread;
}

// One core, or several.
void parse_cpus(Object& object, Process& process) {
  object.read("cpu", process.cpu);
  const bool one = object.find("cpu") != nullptr;
  object.each("cpus", [&](const Json& item, const std::string& at) {
    if (one) {
      Object::fail(object.at("cpus"), "is given besides cpu");
    }
    if (!item.is_number_integer()) {
      Object::fail(at, "is not the number of a core");
    }
    process.cpus.push_back(item.get<int>());
  });
  if (!process.cpus.empty()) {
    sched::check_cores(place_text(process), process.cpus);  // each counts
    process.cpu = process.cpus.front();
  }
  if (process.cpus.size() == 1) {
    process.cpus.clear();
  }
}

Process parse_process(const Json& json, const std::string& path) {
  Object object{json, path};
  Process process;
  object.read("name", process.name);
  if (process.name.empty()) {
    Object::fail(object.at("name"), "is not a name");
  }
  parse_executor(object, process.policy);
  parse_cpus(object, process);
  parse_kernel_scheduling(object, process);
  object.read("host", process.host);
  object.each("threads", [&](const Json& item, const std::string& at) {
    process.threads.push_back(parse_thread(item, at));
  });
  object.finish();
  return process;
}

void parse_times(Object& object, const std::string& path, Handover& times) {
  object.read("least", times.least);
  object.read("most", times.most);
  object.finish();
  if (times.least.count() < 0 || times.least > times.most) {
    Object::fail(path, "least is not between 0 and most");
  }
}

Link parse_link(const Json& json, const std::string& path) {
  Object object{json, path};
  Link link;
  std::size_t count = 0;
  object.each("hosts", [&](const Json& host, const std::string& at) {
    if (count < link.hosts.size() && host.is_string()) {
      link.hosts[count] = host.get<std::string>();
    } else if (!host.is_string()) {
      Object::fail(at, "is not a text");
    }
    ++count;
  });
  if (count != link.hosts.size()) {
    Object::fail(object.at("hosts"), "is not two hosts");
  }
  object.read("loss", link.loss);
  if (link.loss < 0 || link.loss >= Link::whole) {
    Object::fail(object.at("loss"), "is not a number of millionths from 0 to below 1000000");
  }
  object.read("drift", link.drift);
  if (link.drift < 0 || link.drift >= Link::whole) {
    Object::fail(object.at("drift"), "is not a number of millionths from 0 to below 1000000");
  }
  object.read("measured", link.measured);
  parse_times(object, path, link.handover);
  return link;
}

}  // namespace

void parse_executor(Object& object, std::string& policy) {
  constexpr std::string_view own = "takt";
  std::string executor{own};
  object.read("executor", executor);
  if (executor == own) {
    object.read("policy", policy);
    static_cast<void>(sched::parse_policy(policy));
    return;
  }
  if (!sched::stock_executor(executor)) {
    std::vector<std::string_view> names{own};
    names.insert(names.end(), sched::stock_executor_names.begin(),
                 sched::stock_executor_names.end());
    throw sched::ScheduleError("executor " + sched::name_text(executor), "unknown executor",
                               sched::fix_text(executor, names));
  }
  if (object.find("policy") != nullptr) {
    throw sched::ScheduleError("executor " + sched::name_text(executor),
                               "it has an order of its own, and a policy is given",
                               "remove policy, or use the executor 'takt'");
  }
  policy = executor;
}

void parse_processes(Object& object, Application& application,
                     const std::vector<std::string>& names) {
  object.each("processes", [&](const Json& item, const std::string& path) {
    application.processes.push_back(parse_process(item, path));
  });
  place_reservations(application.processes);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = std::ranges::find(application.processes, names[i], &Process::name);
    if (found != application.processes.end()) {
      application.callbacks[i].process =
          static_cast<std::size_t>(found - application.processes.begin());
    } else if (!names[i].empty() || !application.processes.empty()) {
      Object::fail("/callbacks/" + std::to_string(i) + "/process",
                   "is none of the processes: " + sched::name_text(names[i]));
    }
  }
  if (const Json* handover = object.find("handover")) {
    Object times{*handover, "/handover"};
    parse_times(times, "/handover", application.handover);
  }
  object.each("links", [&](const Json& item, const std::string& path) {
    application.links.push_back(parse_link(item, path));
  });
}

}  // namespace takt::application
