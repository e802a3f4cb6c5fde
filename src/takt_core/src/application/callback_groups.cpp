// SPDX-License-Identifier: Apache-2.0
#include "takt/application/callback_groups.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "../sched/stock_executor.hpp"
#include "robot.hpp"
#include "takt/sched/error.hpp"

namespace takt::application {
namespace {

std::vector<std::string> heard_by(const Callback& callback) {
  std::vector<std::string> topics;
  topics.reserve(callback.task.reads.size() + 1);
  for (const sched::Read& read : callback.task.reads) {
    topics.push_back(read.topic);
  }
  if (!callback.task.trigger.empty()) {
    topics.push_back(callback.task.trigger);
  }
  return topics;
}

}  // namespace

std::vector<std::string> callback_groups(const Application& application) {
  const auto& callbacks = application.callbacks;
  std::vector<std::string> groups;
  groups.reserve(callbacks.size());
  std::map<std::string, std::string> node_of_group;
  for (const Callback& callback : callbacks) {
    const std::string& name = callback.task.group;
    groups.push_back(name.empty() ? "callback " + callback.task.name : "group " + name);
    if (name.empty()) {
      continue;
    }
    const bool one_thread =
        !application.processes.empty() && !sched::has_threads(policy_of(application, callback));
    if (one_thread) {
      groups.back() += " of " + callback.node_name();
      continue;
    }
    const auto [known, is_new] = node_of_group.try_emplace(name, callback.node_name());
    if (!is_new && known->second != callback.node_name()) {
      throw sched::ScheduleError("group '" + name + "'",
                                 "it has callbacks of the nodes '" + known->second + "' and '" +
                                     callback.node_name() + "'; rclcpp's groups are of one node",
                                 "use Takt's executor, or make it groups of one node each");
    }
  }
  std::map<std::pair<std::string, std::string>, std::string> group_of_topic;
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    for (const std::string& topic : heard_by(callbacks[i])) {
      const auto [known, is_new] =
          group_of_topic.try_emplace({callbacks[i].node_name(), topic}, groups[i]);
      const std::string former = groups[i];
      const std::string joined = known->second;
      std::ranges::replace(groups, former, joined);
      for (auto& [key, group] : group_of_topic) {
        if (group == former) {
          group = joined;
        }
      }
    }
  }
  return groups;
}

}  // namespace takt::application
