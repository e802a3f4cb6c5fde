// SPDX-License-Identifier: Apache-2.0
#include "nodes.hpp"

#include <rcl/timer.h>

#include <algorithm>
#include <rclcpp/exceptions.hpp>
#include <stdexcept>
#include <takt/application/callback_groups.hpp>
#include <takt/sched/error.hpp>
#include <takt/trace/current.hpp>
#include <utility>

#include "described.hpp"
#include "joins.hpp"

namespace takt::runner {
namespace {

using trace::EventType;

rclcpp::QoS qos_of(const application::Topic& topic) {
  rclcpp::QoS qos{std::max<std::size_t>(topic.depth, 1)};
  return topic.reliable ? qos.reliable() : qos.best_effort();
}

const application::Topic& described(const Execution& execution, const std::string& topic) {
  return execution.application.topics[place_of(execution.application, topic)];
}

bool is_among(const std::vector<std::string>& nodes, const application::Callback& callback) {
  return std::ranges::find(nodes, callback.node_name()) != nodes.end();
}

bool has_deadline(const application::Application& application, const sched::Task& task) {
  if (task.kind == sched::TaskKind::timer || task.parameters.deadline.count() > 0) {
    return true;
  }
  return application.strategy &&
         std::ranges::any_of(application.strategy->scenarios(), [&](const auto& scenario) {
           return std::ranges::any_of(scenario->tasks(), [&](const sched::TaskChange& change) {
             return change.task == task.name && change.deadline;
           });
         });
}

// Sleeps until it has so many readers. Throws std::runtime_error after a minute.
void wait_for(const rclcpp::PublisherBase& publisher, const std::string& topic, std::size_t readers,
              const os::StopFlag& stop) {
  const os::TimePoint latest = os::now() + 60s;
  while (publisher.get_subscription_count() < readers) {
    if (stop.wait_until(os::now() + 2ms)) {
      return;
    }
    if (os::now() > latest) {
      throw std::runtime_error{topic + " has " +
                               std::to_string(publisher.get_subscription_count()) + " of " +
                               std::to_string(readers) + " readers after a minute"};
    }
  }
}

}  // namespace

NodeOutlet::NodeOutlet(rclcpp::Node& node, const Execution& execution, Common& common,
                       JobTrace& trace, const std::string& topic, bool reentrant)
    : topic_{topic},
      publisher_{node.create_publisher<Message>(topic, qos_of(described(execution, topic)))},
      common_{&common},
      place_{place_of(execution.application, topic)},
      number_{trace.number_of_topic(publisher_->get_topic_name())},
      publishing_{reentrant ? std::make_unique<std::mutex>() : nullptr} {
  message_.payload.resize(execution.application.topics[place_].bytes);
}

void NodeOutlet::publish(os::TimePoint sampled) {
  const std::unique_lock lock =
      publishing_ ? std::unique_lock{*publishing_} : std::unique_lock<std::mutex>{};
  message_.sequence = static_cast<std::uint64_t>(common_->next_sequence(place_));
  message_.intended_ns = common_->stamp(sampled);
  const os::TimePoint published_at = os::now();
  message_.sent_ns = common_->stamp(published_at);
  publisher_->publish(message_);
  trace::record_in_job(EventType::publish, published_at, number_,
                       static_cast<std::int64_t>(message_.sequence));
}

void NodeOutlet::wait_for(std::size_t readers, const os::StopFlag& stop) const {
  runner::wait_for(*publisher_, topic_, readers, stop);
}

void NodeMember::compute_and_write(std::uint64_t job, os::TimePoint sampled) {
  const nanoseconds begin = thread_cpu_time();
  for (const NodeInlet& inlet : reads) {
    const std::shared_ptr<const Message> message = inlet.newest;
    trace::record_in_job(EventType::use, os::now(), inlet.number,
                         message ? static_cast<std::int64_t>(message->sequence) : -1);
  }
  compute_and_wait(begin,
                   in_its_scenario(times.of(job), description->task.parameters.expected_execution),
                   *description);
  if (join != nullptr) {
    if (!join->store(input, sampled)) {
      return;
    }
    sampled = join->oldest();
  }
  for (std::size_t i = 0; i < writes.size(); ++i) {
    for (std::int64_t left = counts[i].of(job); left > 0; --left) {
      writes[i].publish(sampled);
    }
  }
}

Nodes::Nodes(const Execution& execution, Common& common, JobTrace& trace,
             const std::vector<std::string>& nodes)
    : readers_{readers_of(execution.application)} {
  const auto& callbacks = execution.application.callbacks;
  const std::vector<std::string> groups = application::callback_groups(execution.application);
  // The numbers of the callbacks first: a trace lists them in the order of the application.
  for (std::size_t place = 0; place < callbacks.size(); ++place) {
    if (!is_among(nodes, callbacks[place])) {
      continue;
    }
    NodeMember& member = members_.emplace_back(callbacks[place], execution.settings.seed, place);
    const sched::Task& task = callbacks[place].task;
    const bool is_timer = task.kind == sched::TaskKind::timer;
    const nanoseconds deadline = task.parameters.deadline;
    member.task = {
        .number = trace.add_task(task.name),
        .priority = task.parameters.priority,
        .period = task.parameters.period,
        .deadline = deadline.count() == 0 && is_timer ? task.parameters.period : deadline,
        .has_deadline = has_deadline(execution.application, task),
        .reentrant = callbacks[place].reentrant};
  }
  for (NodeMember& member : members_) {
    const auto place = static_cast<std::size_t>(member.description - callbacks.data());
    add(execution, common, trace, member, groups[place]);
  }
  connect_joins(execution.application, members_, joins_);
}

void Nodes::add(const Execution& execution, Common& common, JobTrace& trace, NodeMember& member,
                const std::string& group) {
  const application::Callback& callback = *member.description;
  const auto place = static_cast<std::size_t>(&callback - execution.application.callbacks.data());
  auto& node = nodes_[callback.node_name()];
  if (!node) {
    node = std::make_shared<rclcpp::Node>(callback.node_name());
  }
  auto& shared = groups_[group];
  if (!shared) {
    shared = node->create_callback_group(callback.reentrant
                                             ? rclcpp::CallbackGroupType::Reentrant
                                             : rclcpp::CallbackGroupType::MutuallyExclusive);
  }
  member.group = shared;
  rclcpp::SubscriptionOptions in_group;
  in_group.callback_group = shared;
  for (const sched::Read& read : callback.task.reads) {
    NodeInlet& inlet = member.reads.emplace_back();
    inlet.task = {.number = trace.add_task(callback.node_name() + "." + read.topic),
                  .keeps_only = true};
    inlet.subscription = node->create_subscription<Message>(
        read.topic, qos_of(described(execution, read.topic)),
        [&inlet, &trace, &common](std::shared_ptr<const Message> message) {
          trace.message(inlet.task, common.time_of(message->sent_ns), [&](std::uint64_t job) {
            trace.delivered(inlet.task, job, common.time_of(message->intended_ns), inlet.number);
            inlet.newest = std::move(message);
          });
        },
        in_group);
    inlet.number = trace.number_of_topic(inlet.subscription->get_topic_name());
  }
  for (const std::string& topic : callback.task.writes) {
    member.writes.emplace_back(*node, execution, common, trace, topic, callback.reentrant);
    member.counts.emplace_back(callback, execution.settings.seed, place, member.counts.size());
  }
  if (callback.task.kind == sched::TaskKind::timer) {
    member.timer = node->create_wall_timer(
        callback.task.parameters.period,
        [&member, &trace](const rclcpp::TimerInfo& info) {
          trace.timer(member.task, info, [&](std::uint64_t job, os::TimePoint release) {
            member.compute_and_write(job, release);
          });
        },
        shared);
    member.timer->cancel();  // until begin_at()
    return;
  }
  member.trigger = node->create_subscription<Message>(
      callback.task.trigger, qos_of(described(execution, callback.task.trigger)),
      [&member, &trace, &common](std::shared_ptr<const Message> message) {
        trace.message(member.task, common.time_of(message->sent_ns), [&](std::uint64_t job) {
          trace::record_in_job(EventType::use, os::now(), member.trigger_number,
                               static_cast<std::int64_t>(message->sequence));
          member.compute_and_write(job, common.time_of(message->intended_ns));
          member.responses.answer(*message);
        });
      },
      in_group);
  add_responses(execution, member, *node);
  member.trigger_number = trace.number_of_topic(member.trigger->get_topic_name());
}

void Nodes::add_responses(const Execution& execution, NodeMember& member, rclcpp::Node& node) {
  const std::string& service = member.description->task.trigger;
  for (const std::size_t place : clients_elsewhere(execution.application, *member.description)) {
    const auto client = static_cast<ClientNumber>(place + 1);
    member.responses.add(client,
                         node.create_publisher<Message>(response_topic(service, client),
                                                        rclcpp::QoS{response_depth}.reliable()));
  }
}

void Nodes::wait_for_readers(const os::StopFlag& stop) const {
  for (const NodeMember& member : members_) {
    for (const NodeOutlet& outlet : member.writes) {
      const auto readers = readers_.find(outlet.topic());
      if (readers != readers_.end()) {
        outlet.wait_for(readers->second, stop);
      }
    }
    for (const auto& [client, response] : member.responses.clients()) {
      wait_for(*response, response->get_topic_name(), 1, stop);
    }
  }
}

// rcl counts from the reset of a timer, for one period; a period of another length for that moment
// puts the first call where it is wanted.
void Nodes::begin_at(os::TimePoint start) {
  const auto check = [](rcl_ret_t code) {
    if (code != RCL_RET_OK) {
      rclcpp::exceptions::throw_from_rcl_error(code, "cannot set a timer");
    }
  };
  for (NodeMember& member : members_) {
    if (!member.timer) {
      continue;
    }
    rcl_timer_t* const handle = const_cast<rcl_timer_t*>(member.timer->get_timer_handle().get());
    const nanoseconds until = start + member.description->task.parameters.offset - os::now();
    std::int64_t period = 0;
    check(rcl_timer_exchange_period(handle, std::max<std::int64_t>(until.count(), 0), &period));
    member.timer->reset();
    std::int64_t unused = 0;
    check(rcl_timer_exchange_period(handle, period, &unused));
  }
}

NodeOutside::NodeOutside(const Execution& execution, Common& common, JobTrace& trace) {
  auto readers = readers_of(execution.application);
  for (const application::Topic& topic : execution.application.topics) {
    if (!topic.external || topic.external_period.count() == 0) {
      continue;
    }
    if (!node_) {
      node_ = std::make_shared<rclcpp::Node>("takt_outside");
    }
    topics_.push_back({NodeOutlet{*node_, execution, common, trace, topic.name}, Burst{topic},
                       readers[topic.name]});
  }
}

void NodeOutside::wait_for_readers(const os::StopFlag& stop) const {
  for (const Topic& topic : topics_) {
    topic.outlet.wait_for(topic.readers, stop);
  }
}

void NodeOutside::feed(os::TimePoint start, os::TimePoint end, const os::StopFlag& stop,
                       trace::Recorder recorder) {
  feed_topics(topics_, start, end, stop, recorder);
}

}  // namespace takt::runner
