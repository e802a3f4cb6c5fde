// SPDX-License-Identifier: Apache-2.0
#include "own_subscriptions.hpp"

#include <algorithm>
#include <utility>

#include "../sched/stock_executor.hpp"
#include "../sched/text.hpp"
#include "robot.hpp"
#include "takt/application/callback_groups.hpp"
#include "takt/sched/error.hpp"

namespace takt::application {
namespace {

using std::ranges::find;

// The topic by which a node hands over what its subscription received.
std::string handed_over(const std::string& callback, const std::string& topic) {
  return callback + "." + topic;
}

// Whether several threads may take it.
bool has_threads(const Application& application, const Callback& callback) {
  return sched::has_threads(policy_of(application, callback));
}

// One job of a group runs at a time, whichever thread takes it.
void set_groups_of_threads(Application& application) {
  const auto in_threads = [&](const Callback& one) { return has_threads(application, one); };
  if (std::ranges::none_of(application.callbacks, in_threads)) {
    return;
  }
  const std::vector<std::string> groups = callback_groups(application);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (in_threads(application.callbacks[i]) && !application.callbacks[i].reentrant) {
      application.callbacks[i].task.group = groups[i];
    }
  }
}

void add_subscription(Application& application, std::size_t reader, const std::string& topic) {
  const Callback& callback = application.callbacks[reader];
  Callback added;
  if (has_threads(application, callback)) {
    added.task.group = callback.task.group;
  }
  added.task.name = handed_over(callback.task.name, topic);
  added.task.kind = sched::TaskKind::message;
  added.task.trigger = topic;
  added.task.writes = {added.task.name};
  added.task.cpu = callback.task.cpu;
  added.task.parameters.overrun = sched::Overrun::catch_up;
  added.task.parameters.active = callback.task.parameters.active;
  added.task.parameters.expected_execution = nanoseconds{1};
  added.execution = {.best = nanoseconds{1}, .worst = nanoseconds{1}};
  added.node = callback.node_name();
  added.process = callback.process;
  application.topics.push_back({.name = added.task.name, .local = true});
  application.callbacks.push_back(std::move(added));
}

bool is_stock(const std::string& policy) {
  return sched::stock_executor(policy) != nullptr;
}

// Between two callbacks of a chain, the subscription by which the data goes. `stock`: by task.
void extend(Chain& chain, const std::vector<sched::Task>& declared,
            const std::vector<bool>& stock) {
  const auto task = [&](const std::string& name) {
    return find(declared, name, &sched::Task::name);
  };
  std::vector<std::string> path;
  for (std::size_t i = 0; i < chain.callbacks.size(); ++i) {
    if (i > 0) {
      const auto writer = task(chain.callbacks[i - 1]);
      const auto reader = task(chain.callbacks[i]);
      const auto writes = [&](const std::string& topic) {
        return find(writer->writes, topic) != writer->writes.end();
      };
      const auto read = std::ranges::find_if(reader->reads, writes, &sched::Read::topic);
      if (stock[static_cast<std::size_t>(reader - declared.begin())] && !writes(reader->trigger) &&
          read != reader->reads.end()) {
        path.push_back(handed_over(reader->name, read->topic));
      }
    }
    path.push_back(chain.callbacks[i]);
  }
  chain.callbacks = std::move(path);
}

}  // namespace

bool has_stock_executor(const Application& application) {
  return std::ranges::any_of(application.callbacks, [&](const Callback& callback) {
    return is_stock(policy_of(application, callback));
  });
}

Application with_own_subscriptions(Application application) {
  if (!has_stock_executor(application)) {
    return application;
  }
  set_groups_of_threads(application);
  const std::vector<sched::Task> declared = application.tasks();
  std::vector<bool> stock;
  stock.reserve(application.callbacks.size());
  for (const Callback& callback : application.callbacks) {
    stock.push_back(is_stock(policy_of(application, callback)));
  }
  for (Chain& chain : application.chains) {
    extend(chain, declared, stock);
  }
  for (std::size_t i = 0; i < declared.size(); ++i) {
    Callback& callback = application.callbacks[i];
    if (stock[i] && callback.task.kind == sched::TaskKind::message) {
      callback.task.parameters.overrun = sched::Overrun::catch_up;
    }
  }
  for (std::size_t i = 0; i < declared.size(); ++i) {
    if (!stock[i]) {
      continue;
    }
    for (const sched::Read& read : declared[i].reads) {
      add_subscription(application, i, read.topic);
    }
    auto& reads = application.callbacks[i].task.reads;
    for (sched::Read& read : reads) {
      read = {.topic = handed_over(declared[i].name, read.topic)};
    }
  }
  return application;
}

void check_stock_executor(const Application& application) {
  if (!application.processes.empty() || !is_stock(application.policy)) {
    return;
  }
  const std::string where = "executor " + sched::name_text(application.policy);
  if (!sched::has_threads(application.policy) && application.cpus.size() > 1) {
    throw sched::ScheduleError(where,
                               "it has one thread, and the application has " +
                                   std::to_string(application.cpus.size()) + " cores",
                               "name one core in cpus, or use rclcpp_multi_threaded or 'takt'");
  }
  if (application.strategy) {
    throw sched::ScheduleError(where, "it has no scenarios, and the application has some",
                               "remove scenarios, default_scenario and switches, or use the "
                               "executor 'takt'");
  }
}

}  // namespace takt::application
