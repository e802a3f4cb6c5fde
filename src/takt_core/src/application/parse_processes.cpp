// SPDX-License-Identifier: Apache-2.0
#include "parse_processes.hpp"

#include <algorithm>
#include <string_view>

#include "../sched/stock_executor.hpp"
#include "../sched/text.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/policies.hpp"

namespace takt::application {
namespace {

Process parse_process(const Json& json, const std::string& path) {
  Object object{json, path};
  Process process;
  object.read("name", process.name);
  if (process.name.empty()) {
    Object::fail(object.at("name"), "is not a name");
  }
  parse_executor(object, process.policy);
  object.read("cpu", process.cpu);
  object.read("priority", process.priority);
  object.finish();
  return process;
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
                               "it has an order of its own, and the application has a policy",
                               "remove policy, or use the executor 'takt'");
  }
  policy = executor;
}

void parse_processes(Object& object, Application& application,
                     const std::vector<std::string>& names) {
  object.each("processes", [&](const Json& item, const std::string& path) {
    application.processes.push_back(parse_process(item, path));
  });
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
    times.read("least", application.handover.least);
    times.read("most", application.handover.most);
    times.finish();
    if (application.handover.least.count() < 0 ||
        application.handover.least > application.handover.most) {
      Object::fail("/handover", "least is not between 0 and most");
    }
  }
}

}  // namespace takt::application
