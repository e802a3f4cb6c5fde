// SPDX-License-Identifier: Apache-2.0
//
// A subscription with a callback belongs to a node, and to each timer of the node that reads its
// topic: that one delivers what is pending before it runs. One runs the callback at a time; another
// one on the same core that wants to waits for the end, and lends its priority meanwhile.
#include <algorithm>
#include <string>

#include "takt/analysis/scenario_model.hpp"

namespace takt::analysis {
namespace {

// `task` is the reader's, with the topics of all scenarios: it takes part in each of them.
bool reads_in_same_node(const application::Callback& reader, const sched::Task& task,
                        const application::Callback& message) {
  return &reader != &message && !reader.node.empty() && reader.node == message.node &&
         std::ranges::any_of(task.reads, [&](const sched::Read& read) {
           return read.topic == message.task.trigger;
         });
}

// Whether a job of `own` can start while one of `holds` has started on the same core.
bool can_preempt(const Demand& own, const Demand& holds) noexcept {
  const sched::Level threshold = std::max(holds.level, holds.ceiling);
  return own.reach() > threshold || (own.reach() == threshold && (own.waits || holds.waits));
}

std::string callback_text(const application::Callback& callback) {
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
  std::vector<std::size_t> users;  // streams; who is never released meets nobody
  const auto add_user = [&](std::size_t callback) {
    const auto stream = std::ranges::find(streams_, callback, &Stream::callback);
    if (stream != streams_.end()) {
      users.push_back(static_cast<std::size_t>(stream - streams_.begin()));
    }
    return stream != streams_.end();
  };
  add_user(message);
  for (std::size_t i = 0; i < callbacks.size(); ++i) {
    if (!reads_in_same_node(callbacks[i], strategy_->tasks()[i], callbacks[message])) {
      continue;
    }
    costs_[i].around += static_cast<std::int64_t>(depth) * once;
    queues_[message] = 0;
    if (add_user(i)) {
      remarks_.push_back(callback_text(callbacks[i]) + " runs " +
                         callback_text(callbacks[message]) + " before itself, up to " +
                         std::to_string(depth) + " times; its execution time includes that");
    }
  }
  const bool waits = callbacks[message].task.waits;
  bool entangled = false;
  for (const std::size_t user : users) {
    const auto meets = [&](auto condition) {
      return std::ranges::any_of(
          users, [&](std::size_t other) { return other != user && condition(other); });
    };
    if (meets([&](std::size_t other) { return waits || core_of(user) != core_of(other); })) {
      cores_[core_of(user)].entangled = true;
      entangled = true;
    } else if (meets([&](std::size_t other) { return can_preempt(demand(user), demand(other)); })) {
      // The other one lets it pass as soon as it has run the callback once.
      const std::size_t callback = streams_[user].callback;
      costs_[callback].around += once;
      remarks_.push_back(callback_text(callbacks[callback]) + " may find " +
                         callback_text(callbacks[message]) +
                         " running and wait for its end; its execution time includes that");
    }
  }
  if (entangled) {
    remarks_.push_back(callback_text(callbacks[message]) + " is run by several callbacks" +
                       (waits ? ", waits itself" : " on different cores") +
                       ", and who comes second waits, or goes on with older data: nothing is "
                       "proved there. Let the readers of '" +
                       callbacks[message].task.trigger + "' be in another node" +
                       (waits ? "" : ", or put all on one core"));
  }
}

}  // namespace takt::analysis
