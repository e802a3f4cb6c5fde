// SPDX-License-Identifier: Apache-2.0
#include "takt/trace/declared.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace takt::trace {
namespace {

using Json = nlohmann::json;
using sched::Overrun;
using sched::TaskParameters;

const char* text(Overrun overrun) noexcept {
  switch (overrun) {
    case Overrun::skip:
      return "skip";
    case Overrun::queue_one:
      return "queue_one";
    case Overrun::catch_up:
      return "catch_up";
  }
  return "skip";
}

// What differs from `known`.
Json parameters(const TaskParameters& declared, const TaskParameters& known) {
  Json json = Json::object();
  const auto time = [&](const char* key, auto member) {
    if (declared.*member != known.*member) {
      json[key] = (declared.*member).count();
    }
  };
  time("period", &TaskParameters::period);
  time("offset", &TaskParameters::offset);
  time("deadline", &TaskParameters::deadline);
  time("expected_execution", &TaskParameters::expected_execution);
  time("budget", &TaskParameters::budget);
  if (declared.priority != known.priority) {
    json["priority"] = declared.priority;
  }
  if (declared.overrun != known.overrun) {
    json["overrun"] = text(declared.overrun);
  }
  if (declared.active != known.active) {
    json["active"] = declared.active;
  }
  return json;
}

// Names are bytes of users; what is not UTF-8 in them is replaced.
std::string written(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json described(const sched::Task& task, const TaskParameters& declared) {
  Json json = parameters(declared, {});
  if (task.any_offset) {
    json["offset"] = "unknown";
  }
  json["name"] = task.name;
  json["kind"] = task.kind == sched::TaskKind::timer ? "timer" : "message";
  if (!task.trigger.empty()) {
    json["trigger"] = task.trigger;
  }
  for (const sched::Read& read : task.reads) {
    json["reads"].push_back({{"topic", read.topic}, {"max_age", read.max_age.count()}});
  }
  if (!task.writes.empty()) {
    json["writes"] = task.writes;
  }
  if (!task.group.empty()) {
    json["group"] = task.group;
  }
  if (!task.locks.empty()) {
    json["locks"] = task.locks;
  }
  if (task.cpu >= 0) {
    json["cpu"] = task.cpu;
  }
  if (task.jitter.count() > 0) {
    json["jitter"] = task.jitter.count();
  }
  if (task.waits) {
    json["waits"] = true;
  }
  if (task.paused) {
    json["active"] = false;
  }
  return json;
}

}  // namespace

void declare_task(TraceWriter& writer, const sched::CompiledStrategy& strategy,
                  sched::TaskIndex task, std::size_t scenario) {
  const sched::Task& declared = strategy.tasks()[task];
  const TaskParameters& first = strategy.scenarios()[scenario].parameters(task);
  writer.attribute("task", written(described(declared, first)));
  for (const sched::CompiledScenario& other : strategy.scenarios()) {
    Json change = parameters(other.parameters(task), first);
    if (!change.empty()) {
      change["scenario"] = other.name();
      change["task"] = declared.name;
      writer.attribute("change", written(change));
    }
  }
}

}  // namespace takt::trace
