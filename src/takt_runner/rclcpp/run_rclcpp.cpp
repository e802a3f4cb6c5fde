// SPDX-License-Identifier: Apache-2.0
//
// One process, the same nodes on the executor that the approach names. rclcpp's own run at one
// real-time priority; Takt's as the description says.
#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <takt/rclcpp/any_executor.hpp>
#include <takt/sched/error.hpp>
#include <takt/sched/policies.hpp>
#include <tuple>

#include "described.hpp"
#include "names.hpp"
#include "nodes.hpp"
#include "own_trace.hpp"

namespace takt::runner {
namespace {

constexpr int peers_priority = 40;

struct InContext {
  InContext() {
    ::rclcpp::init(0, nullptr, ::rclcpp::InitOptions{}, ::rclcpp::SignalHandlerOptions::None);
  }
  ~InContext() { ::rclcpp::shutdown(); }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;
  InContext(InContext&&) = delete;
  InContext& operator=(InContext&&) = delete;
};

// The place of a node's group among its groups, as CallbackId counts them.
std::size_t place_of_group(::rclcpp::Node& node, const ::rclcpp::CallbackGroup::SharedPtr& group) {
  std::size_t place = 0;
  std::optional<std::size_t> found;
  node.for_each_callback_group([&](const ::rclcpp::CallbackGroup::SharedPtr& other) {
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
      ::rclcpp::Node& node = *nodes.all().at(member.description->node_name());
      const std::string name = node.get_fully_qualified_name();
      const std::size_t group = place_of_group(node, member.group);
      rclcpp::Timing timing{.priority = task.parameters.priority,
                            .deadline = task.parameters.deadline,
                            .cpu = task.cpu,
                            .expected_execution = task.parameters.expected_execution,
                            .budget = task.parameters.budget,
                            .overrun = task.parameters.overrun};
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

  rclcpp::Timing of(const rclcpp::CallbackId& id) {
    if (id.kind == rclcpp::CallbackKind::timer) {
      return next(timers_, {id.node, id.group});
    }
    if (id.kind == rclcpp::CallbackKind::subscription) {
      return next(subscriptions_, {id.node, id.group, id.topic_or_service});
    }
    return {};
  }

 private:
  template <class Key>
  static rclcpp::Timing next(std::map<Key, std::deque<rclcpp::Timing>>& of, const Key& key) {
    const auto found = of.find(key);
    if (found == of.end() || found->second.empty()) {
      return {};
    }
    rclcpp::Timing timing = found->second.front();
    found->second.pop_front();
    return timing;
  }

  std::map<std::tuple<std::string, std::size_t>, std::deque<rclcpp::Timing>> timers_;
  std::map<std::tuple<std::string, std::size_t, std::string>, std::deque<rclcpp::Timing>>
      subscriptions_;
};

rclcpp::Options scheduling_of(const application::Application& application, const Nodes& nodes) {
  rclcpp::Options options;
  options.scheduling.policy = sched::parse_policy(application.policy);
  options.scheduling.cpus = application.cpus;
  options.timing = [timing = std::make_shared<DescribedTiming>(nodes)](
                       const rclcpp::CallbackId& id) { return timing->of(id); };
  return options;
}

// The names that the executor gives the callbacks. Timers are counted in the order of their groups,
// and of their making; see CallbackId.
std::map<std::string, std::string> names_of(const Nodes& nodes) {
  std::map<std::string, std::string> names;
  std::map<std::pair<std::string, std::string>, std::size_t> heard;       // by node and topic
  std::map<std::string, std::multimap<std::size_t, std::string>> timers;  // by node and group
  for (const NodeMember& member : nodes.members()) {
    ::rclcpp::Node& node = *nodes.all().at(member.description->node_name());
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
        rclcpp::CallbackId{.node = name,
                           .kind = rclcpp::CallbackKind::subscription,
                           .topic_or_service = topic,
                           .ordinal = heard[{name, topic}]++}
            .text();
  }
  for (const auto& [node, of_node] : timers) {
    std::size_t ordinal = 0;
    for (const auto& [group, task] : of_node) {
      names[task] = rclcpp::CallbackId{.node = node, .ordinal = ordinal++}.text();
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
  if (described.period || described.offset) {
    throw sched::ScheduleError(
        "callback '" + described.task + "'",
        "scenario '" + scenario + "' changes when it is released, which is its node's affair",
        "let it be active or not, or take the approach takt");
  }
  const NodeMember& member = member_of(nodes, described.task);
  change.active = described.active.value_or(member.description->task.parameters.active);
  const std::vector<sched::Read>& reads = member.description->task.reads;
  for (sched::Read& read : change.reads) {
    const auto known = std::ranges::find(reads, read.topic, &sched::Read::topic);
    if (known == reads.end()) {
      throw sched::ScheduleError("callback '" + described.task + "'",
                                 "scenario '" + scenario + "' lets it read " + read.topic +
                                     ", to which its node does not listen for it before",
                                 "let it read the topic in every scenario, or take the approach "
                                 "takt");
    }
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

// Switches the scenarios at their times.
void follow(rclcpp::SchedulingExecutor& executor, const application::Application& application,
            os::TimePoint start, os::TimePoint end, const os::StopFlag& stop) {
  for (const application::Switch& change : application.switches) {
    if (start + change.at >= end || stop.wait_until(start + change.at)) {
      return;
    }
    static_cast<void>(executor.switch_to(change.scenario));  // the description was checked
  }
}

class Spinning {
 public:
  Spinning(::rclcpp::Executor& executor, const os::ThreadSettings& settings, os::StopFlag& stop)
      : executor_{executor}, thread_{settings, [this, &stop] {
                                       try {
                                         executor_.spin();
                                       } catch (...) {
                                         failure_ = std::current_exception();
                                         stop.request();
                                       }
                                       ended_.store(true);
                                     }} {}
  ~Spinning() { join(); }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;
  Spinning(Spinning&&) = delete;
  Spinning& operator=(Spinning&&) = delete;

  // Throws what left a callback.
  void end() {
    join();
    if (failure_) {
      std::rethrow_exception(failure_);
    }
  }

 private:
  void join() noexcept {
    if (!thread_.joinable()) {
      return;
    }
    while (!ended_.load()) {  // one that has not begun to spin yet forgets a cancel()
      executor_.cancel();
      os::sleep_until(os::now() + 1ms);
    }
    thread_.join();
  }

  ::rclcpp::Executor& executor_;
  std::exception_ptr failure_;  // written before ended_
  std::atomic<bool> ended_{false};
  os::Thread thread_;
};

}  // namespace

void run_rclcpp(const Execution& execution, os::StopFlag& stop) {
  const application::Application& application = execution.application;
  const std::string executor_name =
      execution.settings.approach.substr(std::string{approach_prefix}.size());
  const bool is_takt = executor_name == "takt";
  const bool outside = has_outside(application);
  Common common{application.topics.size(), 1};
  auto attributes = execution.attributes;
  const os::ThreadSettings of_peers{.policy = os::SchedulingPolicy::fifo,
                                    .priority = peers_priority,
                                    .cpus = application.cpus,
                                    .name = "takt.spin"};
  add_shortfalls(attributes, of_peers);
  JobTrace trace{execution.settings.trace,
                 is_takt ? application.policy : execution.settings.approach, attributes};
  const Affinity anywhere;
  os::apply({.cpus = application.cpus});  // the threads of the middleware shall inherit it
  const InContext context;
  Nodes nodes{execution, common, trace};
  NodeOutside world{execution, common, trace};
  anywhere.apply();
  const auto executor = rclcpp::make_executor(
      executor_name, is_takt ? scheduling_of(application, nodes) : rclcpp::Options{},
      std::max<std::size_t>(application.cpus.size(), 2));
  auto* const scheduling = dynamic_cast<rclcpp::SchedulingExecutor*>(executor.get());
  if (scheduling != nullptr && (application.strategy || some_inactive(application))) {
    sched::SchedulingStrategy as_described;
    as_described.add_scenario(sched::SchedulingScenario{"default"});
    scheduling->set_scheduling_strategy(
        translated(application.strategy ? *application.strategy : as_described, nodes));
  }
  for (const auto& [name, node] : nodes.all()) {
    executor->add_node(node);
  }
  nodes.wait_for_readers(stop);
  world.wait_for_readers(stop);
  const auto start = common.meet(stop);
  if (!start) {
    return;
  }
  nodes.begin_at(*start);
  const os::TimePoint end = end_of(execution, *start);
  {
    Spinning spinning{*executor, is_takt ? os::ThreadSettings{.name = "takt.spin"} : of_peers,
                      stop};
    std::optional<os::Thread> feeding;
    if (outside) {
      feeding.emplace(
          os::ThreadSettings{.policy = os::SchedulingPolicy::fifo,
                             .priority = os::max_priority,
                             .name = "outside"},
          [&, recorder = trace.add_thread()] { world.feed(*start, end, stop, recorder); });
    }
    if (scheduling != nullptr) {
      follow(*scheduling, application, *start, end, stop);
    }
    static_cast<void>(stop.wait_until(end));
    if (feeding) {
      feeding->join();
    }
    spinning.end();
  }
  trace.stop();
}

}  // namespace takt::runner
