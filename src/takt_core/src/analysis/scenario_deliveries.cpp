// SPDX-License-Identifier: Apache-2.0
//
// A subscription with a callback belongs to a node, and to each timer of the node that reads its
// topic: that one delivers what is pending before it runs. One delivers at a time; another one that
// wants to waits, and lends its priority meanwhile.
#include <algorithm>
#include <string>

#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {
namespace {

bool reads_in_same_node(const application::Callback& reader, const application::Callback& message) {
  return &reader != &message && !reader.node.empty() && reader.node == message.node &&
         std::ranges::any_of(reader.task.reads, [&](const sched::Read& read) {
           return read.topic == message.task.trigger;
         });
}

// Whether a job of `own` can start while one of `holds` has started on the same core.
bool can_preempt(const Load& own, const Load& holds) noexcept {
  const sched::Level threshold = std::max(holds.level, holds.ceiling);
  return own.level > threshold || (own.level == threshold && (own.waits || holds.waits));
}

std::string quoted(const application::Callback& callback) {
  return "'" + callback.task.name + "'";
}

}  // namespace

void ScenarioModel::add_deliveries(const application::Application& application) {
  for (std::size_t i = 0; i < application.callbacks.size(); ++i) {
    if (application.callbacks[i].task.kind == sched::TaskKind::message) {
      share_subscription(application, i);
    }
  }
}

// Who runs this message callback, what that costs, and who waits for whom.
void ScenarioModel::share_subscription(const application::Application& application,
                                       std::size_t message) {
  const auto& callbacks = application.callbacks;
  const application::Topic* topic = application.find_topic(callbacks[message].task.trigger);
  const std::size_t depth = topic == nullptr ? 1 : topic->depth;
  const nanoseconds once = costs_[message].worst;
  std::vector<User> users;
  add_user(users, message, once);
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    if (!reads_in_same_node(callbacks[i], callbacks[message])) {
      continue;
    }
    const nanoseconds all = static_cast<std::int64_t>(depth) * once;
    costs_[i].around += all;
    if (add_user(users, i, all)) {
      remarks_.push_back(quoted(callbacks[i]) + " runs " + quoted(callbacks[message]) +
                         " before itself, up to " + std::to_string(depth) +
                         " times; its execution time includes that");
    }
  }
  bool entangled = false;
  for (const User& user : users) {
    nanoseconds longest{0};
    for (const User& other : users) {
      if (other.stream == user.stream) {
        continue;
      }
      if (core_of(user.stream) != core_of(other.stream) || callbacks[message].task.waits) {
        entangled = true;
        cores_[core_of(user.stream)].entangled = true;
      } else if (can_preempt(load(user.stream), load(other.stream))) {
        longest = std::max(longest, other.delivery);
      }
    }
    if (longest.count() > 0) {
      const std::size_t callback = streams_[user.stream].callback;
      costs_[callback].around += longest;
      remarks_.push_back(quoted(callbacks[callback]) +
                         " may have to wait until somebody below it " + "has run " +
                         quoted(callbacks[message]) + "; its execution time includes that");
    }
  }
  if (entangled) {
    remarks_.push_back(quoted(callbacks[message]) + " is run by several callbacks" +
                       (callbacks[message].task.waits ? ", waits itself" : " on different cores") +
                       ", and who comes second waits until it ends: nothing is proved there. Let "
                       "the readers of '" +
                       callbacks[message].task.trigger + "' be in another node" +
                       (callbacks[message].task.waits ? "" : ", or put all on one core"));
  }
}

// False for one that is never released: nobody meets it.
bool ScenarioModel::add_user(std::vector<User>& users, std::size_t callback,
                             nanoseconds delivery) const {
  const auto stream = std::ranges::find(streams_, callback, &Stream::callback);
  if (stream == streams_.end()) {
    return false;
  }
  users.push_back(
      {.stream = static_cast<std::size_t>(stream - streams_.begin()), .delivery = delivery});
  return true;
}

}  // namespace takt::analysis
