// SPDX-License-Identifier: Apache-2.0
//
// What tasks read: bound when they are added, so that readers are made anew where a subscription
// comes or goes.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core_names.hpp"
#include "takt/os/thread.hpp"
#include "takt/sched/error.hpp"
#include "tasks.hpp"

namespace takt_rclcpp {
namespace {

bool is_subscription(const CallbackId& id) {
  return id.kind == CallbackKind::subscription || id.kind == CallbackKind::intra_process;
}

// Whether `other` is a subscription of the reader's node to this topic. Throws where its callback
// must not run on the reader's thread.
bool feeds(const Tasks::Task& other, const std::string& topic, const Tasks::Task& reader) {
  const CallbackId& id = other.source->id();
  if (!is_subscription(id) || id.topic_or_service != topic || id.node != reader.source->id().node) {
    return false;
  }
  const Group& group = other.source->group();
  if (group.exclusive && &group != &reader.source->group()) {
    throw sched::ScheduleError(
        "callback '" + reader.name + "'",
        "it reads " + topic + " and so runs the callback of '" + other.name +
            "', which is in another mutually exclusive group",
        "put both into one callback group of their node, or that subscription into a Reentrant "
        "one");
  }
  return true;
}

}  // namespace

// What it has nothing of may come later: nodes are not made at once.
executor::Binding Tasks::bind(Task& task, const std::vector<Task>& added, Fault fault) const {
  executor::Binding binding;
  binding.source = task.source;
  binding.queue = MessageSource::queue;
  const sched::Task described = task.source->describe();
  // So unimportant are services, each with a thread of its own, unless the timing says otherwise.
  binding.resident_stack = described.parameters.priority > os::min_priority;
  if (described.kind == sched::TaskKind::timer) {
    binding.first_release = os::TimePoint::max();
  }
  const auto bind_topic = [&](const std::string& topic) {
    std::vector<executor::BoundInput> inputs;
    const auto look_at = [&](const Task& other) {
      if (feeds(other, topic, task)) {
        auto from = std::static_pointer_cast<MessageSource>(other.source);
        inputs.push_back(
            {.topic = topic, .input = std::make_shared<Reading>(std::move(from), task.source)});
      }
    };
    for (const auto& [key, other] : present_) {
      if (other.round == round_) {
        look_at(other);
      }
    }
    std::ranges::for_each(added, look_at);
    if (inputs.empty()) {
      throw sched::ScheduleError("callback '" + task.name + "'",
                                 "it reads " + topic + ", to which its node '" +
                                     task.source->id().node + "' has no subscription",
                                 "name a topic of the same node, with its namespace");
    }
    std::ranges::move(inputs, std::back_inserter(binding.inputs));
  };
  for (const std::string& topic : task.reads) {
    try {
      bind_topic(topic);
    } catch (const sched::ScheduleError& error) {
      if (fault == Fault::ends) {
        throw;
      }
      task.not_read.emplace_back(error.what());
    }
  }
  return binding;
}

void Tasks::renew_readers(const std::vector<Entity>& entities, std::vector<const Entity*>& come) {
  const auto stays = [this](const Task& task) { return task.round == round_; };
  if (std::ranges::none_of(present_, [&](const auto& entry) {
        return stays(entry.second) && !entry.second.reads.empty();
      })) {
    return;
  }
  std::set<std::pair<std::string, std::string>> changed;  // node and topic
  const auto has_changed = [&](const CallbackId& id) {
    if (is_subscription(id)) {
      changed.emplace(id.node, id.topic_or_service);
    }
  };
  for (const auto& [key, task] : present_) {
    if (!stays(task)) {
      has_changed(task.source->id());
    }
  }
  for (const Entity* const entity : come) {
    if (const auto locked = entity->lock()) {
      has_changed(entity->describe(*locked));
    }
  }
  for (const Entity& entity : entities) {
    const auto known = present_.find(entity.key);
    if (known == present_.end() || !stays(known->second)) {
      continue;
    }
    Task& task = known->second;
    if (std::ranges::any_of(task.reads, [&](const std::string& topic) {
          return changed.contains({task.source->id().node, topic});
        })) {
      task.round = 0;  // no round's
      come.push_back(&entity);
    }
  }
}

}  // namespace takt_rclcpp
