// SPDX-License-Identifier: Apache-2.0
#include "scheduling.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <takt/sched/error.hpp>
#include <takt/sched/policies.hpp>
#include <tuple>
#include <utility>
#include <vector>

namespace takt::runner {
namespace {

// The place of a node's group among its groups, as CallbackId counts them.
std::size_t place_of_group(rclcpp::Node& node, const rclcpp::CallbackGroup::SharedPtr& group) {
  std::size_t place = 0;
  std::optional<std::size_t> found;
  node.for_each_callback_group([&](const rclcpp::CallbackGroup::SharedPtr& other) {
    if (other == group) {
      found = place;
    }
    ++place;
  });
  return found.value_or(0);
}

// Timing of the description for each callback of the nodes. Timers of a group are asked for in the
// order of their making, which is that of the description.
class DescribedTiming {
 public:
  explicit DescribedTiming(const Nodes& nodes) {
    for (const NodeMember& member : nodes.members()) {
      const sched::Task& task = member.description->task;
      rclcpp::Node& node = *nodes.all().at(member.description->node_name());
      const std::string name = node.get_fully_qualified_name();
      const std::size_t group = place_of_group(node, member.group);
      takt_rclcpp::Timing timing{.priority = task.parameters.priority,
                                 .deadline = task.parameters.deadline,
                                 .cpu = task.cpu,
                                 .expected_execution = task.parameters.expected_execution,
                                 .budget = task.parameters.budget,
                                 .overrun = task.parameters.overrun,
                                 .waits = task.waits};
      for (std::size_t i = 0; i < member.reads.size(); ++i) {
        const std::string topic = member.reads[i].subscription->get_topic_name();
        sched::Read read = task.reads[i];
        read.topic = topic;
        timing.reads.push_back(read);
        // They keep data only: for this callback, and as urgent.
        subscriptions_[{name, group, topic}].push_back(
            {.priority = timing.priority, .deadline = timing.deadline, .cpu = timing.cpu});
      }
      if (member.timer) {
        timers_[{name, group}].push_back(timing);
      } else {
        timing.period = task.parameters.period;
        subscriptions_[{name, group, member.trigger->get_topic_name()}].push_back(timing);
      }
    }
  }

  takt_rclcpp::Timing of(const takt_rclcpp::CallbackId& id) {
    if (id.kind == takt_rclcpp::CallbackKind::timer) {
      return next(timers_, {id.node, id.group});
    }
    if (id.kind == takt_rclcpp::CallbackKind::subscription) {
      return next(subscriptions_, {id.node, id.group, id.topic_or_service});
    }
    return {};
  }

 private:
  template <class Key>
  static takt_rclcpp::Timing next(std::map<Key, std::deque<takt_rclcpp::Timing>>& of,
                                  const Key& key) {
    const auto found = of.find(key);
    if (found == of.end() || found->second.empty()) {
      return {};
    }
    takt_rclcpp::Timing timing = found->second.front();
    found->second.pop_front();
    return timing;
  }

  std::map<std::tuple<std::string, std::size_t>, std::deque<takt_rclcpp::Timing>> timers_;
  std::map<std::tuple<std::string, std::size_t, std::string>, std::deque<takt_rclcpp::Timing>>
      subscriptions_;
};

// The names that the executor gives the callbacks. Timers are counted in the order of their groups,
// and of their making; see CallbackId.
std::map<std::string, std::string> names_of(const Nodes& nodes) {
  std::map<std::string, std::string> names;
  std::map<std::pair<std::string, std::string>, std::size_t> heard;       // by node and topic
  std::map<std::string, std::multimap<std::size_t, std::string>> timers;  // by node and group
  for (const NodeMember& member : nodes.members()) {
    rclcpp::Node& node = *nodes.all().at(member.description->node_name());
    const std::string name = node.get_fully_qualified_name();
    for (const NodeInlet& inlet : member.reads) {
      ++heard[{name, inlet.subscription->get_topic_name()}];
    }
    if (member.timer) {
      timers[name].emplace(place_of_group(node, member.group), member.description->task.name);
      continue;
    }
    const std::string topic = member.trigger->get_topic_name();
    names[member.description->task.name] =
        takt_rclcpp::CallbackId{.node = name,
                                .kind = takt_rclcpp::CallbackKind::subscription,
                                .topic_or_service = topic,
                                .ordinal = heard[{name, topic}]++}
            .text();
  }
  for (const auto& [node, of_node] : timers) {
    std::size_t ordinal = 0;
    for (const auto& [group, task] : of_node) {
      names[task] = takt_rclcpp::CallbackId{.node = node, .ordinal = ordinal++}.text();
    }
  }
  return names;
}

const NodeMember& member_of(const Nodes& nodes, const std::string& task) {
  return *std::ranges::find_if(nodes.members(), [&](const NodeMember& member) {
    return member.description->task.name == task;
  });
}

// The same of the nodes' callbacks. What a callback writes is its node's own affair there.
sched::TaskChange translated(const sched::TaskChange& described, const std::string& scenario,
                             const Nodes& nodes, const std::map<std::string, std::string>& names) {
  sched::TaskChange change = described;
  change.task = names.at(described.task);  // the description was checked
  change.writes.clear();
  if (described.offset) {
    throw sched::ScheduleError(
        "callback '" + described.task + "'",
        "scenario '" + scenario + "' changes its offset, and the phase of a timer is its node's",
        "leave the offset out, or take the approach takt");
  }
  const NodeMember& member = member_of(nodes, described.task);
  change.active = described.active.value_or(member.description->task.parameters.active);
  const std::vector<sched::Read>& reads = member.description->task.reads;
  for (sched::Read& read : change.reads) {
    // Its node listens for it in all of them: Application::with_topics_of_scenarios().
    const auto known = std::ranges::find(reads, read.topic, &sched::Read::topic);
    const auto place = static_cast<std::size_t>(known - reads.begin());
    read.topic = member.reads[place].subscription->get_topic_name();
  }
  return change;
}

// A node knows of no callback that is inactive: every scenario says so.
sched::SchedulingStrategy translated(const sched::SchedulingStrategy& described,
                                     const Nodes& nodes) {
  const auto names = names_of(nodes);
  sched::SchedulingStrategy strategy;
  for (const sched::ScenarioPtr& from : described.scenarios()) {
    sched::SchedulingScenario scenario{from->name()};
    if (from->policy()) {
      scenario.set_scheduling_policy(from->policy());
    }
    for (const sched::TaskChange& change : from->tasks()) {
      scenario.add_task(translated(change, from->name(), nodes, names));
    }
    for (const NodeMember& member : nodes.members()) {
      const sched::Task& task = member.description->task;
      const bool is_changed = std::ranges::find(from->tasks(), task.name,
                                                &sched::TaskChange::task) != from->tasks().end();
      if (!task.parameters.active && !is_changed) {
        scenario.add_task({.task = names.at(task.name), .active = false});
      }
    }
    strategy.add_scenario(std::move(scenario));
  }
  strategy.set_default_scenario(described.scenarios()[described.default_scenario()]->name());
  return strategy;
}

bool some_inactive(const application::Application& application) {
  return std::ranges::any_of(application.callbacks, [](const application::Callback& callback) {
    return !callback.task.parameters.active;
  });
}

}  // namespace

takt_rclcpp::Options scheduling_of(const application::Application& application,
                                   const Nodes& nodes) {
  takt_rclcpp::Options options;
  options.scheduling.policy = sched::parse_policy(application.policy);
  options.scheduling.cpus = application.cpus;
  options.timing = [timing = std::make_shared<DescribedTiming>(nodes)](
                       const takt_rclcpp::CallbackId& id) { return timing->of(id); };
  return options;
}

std::optional<sched::SchedulingStrategy> strategy_of(const application::Application& application,
                                                     const Nodes& nodes) {
  if (application.strategy) {
    return translated(*application.strategy, nodes);
  }
  if (!some_inactive(application)) {
    return {};
  }
  sched::SchedulingStrategy as_described;
  as_described.add_scenario(sched::SchedulingScenario{"default"});
  return translated(as_described, nodes);
}

}  // namespace takt::runner
