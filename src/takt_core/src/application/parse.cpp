// SPDX-License-Identifier: Apache-2.0
#include "takt/application/parse.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "../sched/text.hpp"
#include "devices.hpp"
#include "object.hpp"
#include "own_subscriptions.hpp"
#include "parse_cores.hpp"
#include "parse_execution.hpp"
#include "parse_joins.hpp"
#include "parse_lanes.hpp"
#include "parse_locks.hpp"
#include "parse_processes.hpp"
#include "parse_publications.hpp"
#include "parse_segments.hpp"
#include "parse_services.hpp"
#include "robot.hpp"
#include "robot_cores.hpp"
#include "takt/os/saturating.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/policies.hpp"
#include "threads.hpp"

namespace takt::application {
namespace {

constexpr std::int64_t most_suspensions = 1'000'000;
constexpr std::size_t most_at_once = 64;  // jobs of one callback

// A time, or that none is known.
void parse_offset(Object& object, sched::Task& task) {
  const Json* offset = object.find("offset");
  task.any_offset = offset != nullptr && *offset == "unknown";
  if (!task.any_offset) {
    object.read("offset", task.parameters.offset);
  } else if (task.kind != sched::TaskKind::timer) {
    Object::fail(object.at("offset"), "is that of a timer: this callback is released by messages");
  }
}

Callback parse_callback(const Json& json, const std::string& path, const std::vector<Lock>& locks,
                        std::string& process, std::size_t& at_once) {
  Object object{json, path};
  Callback callback;
  sched::Task& task = callback.task;
  task.name = object.get("name").is_string() ? object.get("name").get<std::string>() : "";
  if (task.name.empty()) {
    Object::fail(object.at("name"), "is not a name");
  }
  object.read("node", callback.node);
  object.read("process", process);
  std::string kind = "timer";
  object.read("kind", kind);
  if (kind != "timer" && kind != "message" && kind != "service") {
    Object::fail(object.at("kind"), "is none of timer, message, service");
  }
  callback.server = kind == "service";
  task.kind = kind == "timer" ? sched::TaskKind::timer : sched::TaskKind::message;
  object.read("trigger", task.trigger);
  object.read("period", task.parameters.period);
  parse_offset(object, task);
  object.read("deadline", task.parameters.deadline);
  object.read("priority", task.parameters.priority);
  callback.execution = parse_execution_time(object.get("execution"), object.at("execution"));
  task.parameters.expected_execution = callback.execution.worst;
  object.read("jitter", callback.jitter);
  if (callback.jitter.count() < 0) {
    Object::fail(object.at("jitter"), "is negative");
  }
  object.read("suspension", callback.suspension);
  if (callback.suspension.count() < 0) {
    Object::fail(object.at("suspension"), "is negative");
  }
  task.waits = callback.suspension.count() > 0;
  object.read("suspensions", callback.suspensions);
  if (callback.suspensions < 0 || callback.suspensions > most_suspensions) {
    Object::fail(object.at("suspensions"),
                 "is not a number from 0 to " + std::to_string(most_suspensions));
  }
  parse_segments(object, callback);
  task.waits = task.waits || callback.calls();
  if (callback.suspensions > 0 && !task.waits) {
    Object::fail(object.at("suspensions"), "counts waits of a callback without a suspension");
  }
  object.read("budget", task.parameters.budget);
  task.parameters.overrun = callback.server ? sched::Overrun::catch_up : task.parameters.overrun;
  object.read("overrun", task.parameters.overrun);
  object.read("active", task.parameters.active);
  object.read("group", task.group);
  object.read("join", callback.join);
  object.read("at_once", at_once);
  if (at_once < 1 || at_once > most_at_once) {
    Object::fail(object.at("at_once"), "is not a number from 1 to " + std::to_string(most_at_once));
  }
  parse_critical_sections(object, locks, callback);
  object.read("cpu", task.cpu);
  object.read("reads", task.reads);
  object.read("writes", task.writes);
  parse_publications(object, callback);
  object.finish();
  return callback;
}

Topic parse_topic(const Json& json, const std::string& path) {
  Object object{json, path};
  Topic topic;
  object.read("name", topic.name);
  if (topic.name.empty()) {
    Object::fail(object.at("name"), "is not a name");
  }
  object.read("bytes", topic.bytes);
  object.read("depth", topic.depth);
  if (topic.depth == 0) {
    Object::fail(object.at("depth"), "is 0: a queue holds at least one message");
  }
  object.read("reliable", topic.reliable);
  object.read("external", topic.external);
  object.read("external_period", topic.external_period);
  if (topic.external_period.count() < 0) {
    Object::fail(object.at("external_period"), "is negative");
  }
  std::int64_t burst = 1;
  object.read("external_burst", burst);
  if (burst < 1 || burst > most_messages) {
    Object::fail(object.at("external_burst"),
                 "is not a number from 1 to " + std::to_string(most_messages));
  }
  if (burst > 1 && topic.external_period.count() == 0) {
    Object::fail(object.at("external_burst"), "is that of an external_period, which is missing");
  }
  topic.external_jitter = os::mul_sat(topic.external_period, burst - 1);
  object.finish();
  return topic;
}

Chain parse_chain(const Json& json, const std::string& path) {
  Object object{json, path};
  Chain chain;
  object.read("name", chain.name);
  object.read("callbacks", chain.callbacks);
  object.read("max_latency", chain.max_latency);
  if (chain.max_latency.count() < 0) {
    Object::fail(object.at("max_latency"), "is negative");
  }
  object.finish();
  return chain;
}

sched::TaskChange parse_change(const Json& json, const std::string& path) {
  Object object{json, path};
  sched::TaskChange change;
  object.read("task", change.task);
  object.read("priority", change.priority);
  object.read("period", change.period);
  object.read("offset", change.offset);
  object.read("deadline", change.deadline);
  object.read("expected_execution", change.expected_execution);
  object.read("budget", change.budget);
  object.read("overrun", change.overrun);
  object.read("active", change.active);
  object.read("reads", change.reads);
  object.read("writes", change.writes);
  object.finish();
  return change;
}

sched::SchedulingScenario parse_scenario(const Json& json, const std::string& path) {
  Object object{json, path};
  std::string name;
  object.read("name", name);
  sched::SchedulingScenario scenario{name};
  std::string policy;
  object.read("policy", policy);
  if (!policy.empty()) {
    scenario.set_scheduling_policy(sched::parse_policy(policy));
  }
  object.each("tasks", [&](const Json& item, const std::string& at) {
    scenario.add_task(parse_change(item, at));
  });
  object.finish();
  return scenario;
}

void parse_strategy(Object& object, Application& application) {
  std::string first;
  object.each("scenarios", [&](const Json& item, const std::string& path) {
    if (!application.strategy) {
      application.strategy.emplace();
    }
    application.strategy->add_scenario(parse_scenario(item, path));
  });
  object.read("default_scenario", first);
  if (!first.empty()) {
    if (!application.strategy) {
      Object::fail("/default_scenario", "there are no scenarios");
    }
    application.strategy->set_default_scenario(first);
  }
  object.each("switches", [&](const Json& item, const std::string& path) {
    Object change{item, path};
    Switch value;
    change.read("at", value.at);
    change.read("scenario", value.scenario);
    change.finish();
    if (value.at.count() < 0) {
      Object::fail(path + "/at", "is negative");
    }
    if (!application.strategy || !application.strategy->find(value.scenario)) {
      Object::fail(path + "/scenario", "there is no scenario " + sched::name_text(value.scenario));
    }
    application.switches.push_back(std::move(value));
  });
  std::ranges::stable_sort(application.switches, {}, &Switch::at);
}

Overheads parse_overheads(const Json& json, const std::string& path) {
  Object object{json, path};
  Overheads overheads;
  for (const auto& [key, value] :
       {std::pair{"dispatch", &overheads.dispatch}, std::pair{"preemption", &overheads.preemption},
        std::pair{"release", &overheads.release}, std::pair{"publish", &overheads.publish},
        std::pair{"publish_per_kib", &overheads.publish_per_kib},
        std::pair{"deliver", &overheads.deliver},
        std::pair{"deliver_per_kib", &overheads.deliver_per_kib}}) {
    object.read(key, *value);
    if (value->count() < 0) {
      Object::fail(object.at(key), "is negative");
    }
  }
  object.finish();
  return overheads;
}

void check_chains(const Application& application) {
  std::set<std::string> names;
  for (const Callback& callback : application.callbacks) {
    names.insert(callback.task.name);
  }
  for (const Chain& chain : application.chains) {
    if (chain.callbacks.empty()) {
      Object::fail("/chains", "chain " + sched::name_text(chain.name) + " is empty");
    }
    for (const std::string& name : chain.callbacks) {
      if (!names.contains(name)) {
        Object::fail("/chains", "chain " + sched::name_text(chain.name) +
                                    " names no callback: " + sched::name_text(name));
      }
    }
  }
}

}  // namespace

// Not inline, so that the type is defined here alone.
ParseError::~ParseError() = default;

Application parse(std::string_view json) {
  // The parser takes a zero for the end, and would not look at what follows.
  if (const std::size_t zero = json.find('\0'); zero != std::string_view::npos) {
    throw ParseError("", "it is not JSON: byte " + std::to_string(zero + 1) + " is zero");
  }
  const Json document = [&] {
    try {
      return Json::parse(json);
    } catch (const Json::exception& error) {
      throw ParseError("", "it is not JSON: " + sched::shortened(error.what(), longest_path));
    }
  }();
  Object object{document, ""};
  if (const Json& version = object.get("version"); version != 1) {
    Object::fail("/version", "is " + (version.is_number() ? version.dump() : "no number") +
                                 ", this Takt reads version 1");
  }
  Application application;
  if (!object.get("name").is_string()) {
    Object::fail("/name", "is not a text");
  }
  object.read("name", application.name);
  parse_executor(object, application.policy);
  if (object.find("cpus") != nullptr) {
    application.cpus.clear();
  }
  object.each("cpus", [&](const Json& item, const std::string& path) {
    application.cpus.push_back(Object::integer<int>(item, path));
  });
  const auto parse_own_core = [&](const Json& item, const std::string& path) {
    const Core core = parse_core(item, path);
    if (application.find_core(core.cpu) != nullptr) {
      Object::fail(path + "/cpu", "is described twice");
    }
    if (std::ranges::find(application.cpus, core.cpu) == application.cpus.end()) {
      Object::fail(path + "/cpu", "is none of cpus");
    }
    application.cores.push_back(core);
  };
  const bool is_robot = object.find("processes") != nullptr;
  if (!is_robot) {
    object.each("cores", parse_own_core);
  }
  object.each("locks", [&](const Json& item, const std::string& path) {
    Lock lock = parse_lock(item, path);
    if (std::ranges::count(application.locks, lock.name, &Lock::name) > 0) {
      Object::fail(path + "/name", "is the name of two locks");
    }
    application.locks.push_back(std::move(lock));
  });
  static_cast<void>(object.get("callbacks"));
  std::vector<std::string> processes;  // by callback
  std::vector<std::size_t> at_once;    // by callback
  object.each("callbacks", [&](const Json& item, const std::string& path) {
    application.callbacks.push_back(parse_callback(
        item, path, application.locks, processes.emplace_back(), at_once.emplace_back(1)));
  });
  object.each("topics", [&](const Json& item, const std::string& path) {
    application.topics.push_back(parse_topic(item, path));
  });
  object.each("chains", [&](const Json& item, const std::string& path) {
    application.chains.push_back(parse_chain(item, path));
  });
  parse_strategy(object, application);
  if (const Json* overheads = object.find("overheads")) {
    application.overheads = parse_overheads(*overheads, "/overheads");
  }
  parse_processes(object, application, processes);
  if (is_robot) {
    parse_robot_cores(object, application);
  }
  object.finish();
  check_stock_executor(application);
  check_robot(application);
  check_joins(application);
  check_chains(with_threads(application));
  add_lanes(application, at_once);
  add_services(application);
  add_devices(application);
  check_locks(application);
  check_segments(application);
  return application;
}

}  // namespace takt::application
