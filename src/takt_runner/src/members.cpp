// SPDX-License-Identifier: Apache-2.0
#include "members.hpp"

#include <algorithm>
#include <stdexcept>
#include <takt/executor/current_job.hpp>
#include <utility>

#include "device.hpp"
#include "joins.hpp"

namespace takt::runner {
namespace {

using trace::EventType;

QoS qos_of(const application::Topic& topic) {
  QoS qos{std::max<std::size_t>(topic.depth, 1)};
  return topic.reliable ? qos.reliable() : qos.best_effort();
}

void wait_for(const PublisherBase& publisher, std::size_t readers, const os::StopFlag& stop) {
  const os::TimePoint latest = os::now() + 60s;
  while (publisher.get_subscription_count() < readers) {
    if (stop.wait_until(os::now() + 2ms)) {
      return;
    }
    if (os::now() > latest) {
      throw std::runtime_error{publisher.get_topic_name() + " has " +
                               std::to_string(publisher.get_subscription_count()) + " of " +
                               std::to_string(readers) + " readers after a minute"};
    }
  }
}

Outlet make_outlet(const Execution& execution, Common& common, const Node& node,
                   const std::string& name, Delivery delivery, std::size_t readers) {
  const std::size_t place = place_of(execution.application, name);
  const application::Topic& topic = execution.application.topics[place];
  // Without readers nobody gives messages back.
  const bool by_pointer = delivery == Delivery::before_the_callback && readers > 0;
  return {node.create_publisher<Message>(name, qos_of(topic)), common, place, topic.bytes,
          by_pointer};
}

// When all readers are there: a queue of `depth`, the newest one that is read, and the one that is
// written, for each of them.
void warm_up(const Execution& execution, Outlet& outlet, std::size_t readers) {
  outlet.warm_up(readers * (execution.application.topics[outlet.topic()].depth + 2));
}

}  // namespace

void Member::on_timer(const sched::Job& job) noexcept {
  compute_and_write(job.index, job.release);
}

void Member::on_message(const Message& message) noexcept {
  trace::record_in_job(EventType::use, os::now(), trigger_number,
                       static_cast<std::int64_t>(message.sequence));
  compute_and_write(messages++, common->time_of(message.intended_ns));
  if (service != nullptr && !cut) {
    service->answer(static_cast<std::int64_t>(message.sequence));
    responses.answer(message);
  }
}

bool MemberCall::ask(os::TimePoint sampled) noexcept {
  const std::int64_t number = request.next_sequence();
  if (client != nullptr) {
    client->ask(number);
  }
  request.publish(sampled, number);
  return client != nullptr ? client->wait() : from_elsewhere->wait_for(number);
}

void Member::wait(std::size_t turn, std::uint64_t job, nanoseconds time,
                  os::TimePoint sampled) noexcept {
  if (std::atomic<std::int64_t>* const device = devices.empty() ? nullptr : devices[turn / 2];
      device != nullptr) {
    os::sleep_until(occupy(*device, requests.of(job, turn)));
    return;
  }
  std::optional<MemberCall>* const call = calls.empty() ? nullptr : &calls[turn / 2];
  if (call == nullptr || !*call) {
    os::sleep_until(os::now() + runner::turn(*description, turn, time));
    return;
  }
  cut = !(*call)->ask(sampled) || cut;
}

// Returns when it would have begun if it had computed all the time.
nanoseconds Member::pass_steps(nanoseconds begin, std::uint64_t job, nanoseconds time,
                               os::TimePoint sampled) noexcept {
  std::size_t turn = 1;
  for (const application::LockStep& step : sections.of(job, time)) {
    compute_until(begin, step.at);
    const nanoseconds computed = thread_cpu_time();
    if (step.waits) {
      wait(turn, job, time, sampled);
      turn += 2;
    } else if (step.takes) {
      (*locks)[step.lock]->take();
    } else {
      (*locks)[step.lock]->leave();
      continue;
    }
    begin += thread_cpu_time() - computed;  // to spin is not to compute
  }
  return begin;
}

void Member::compute_and_write(std::uint64_t job, os::TimePoint sampled) noexcept {
  nanoseconds begin = thread_cpu_time();
  for (const Inlet& inlet : reads) {
    inlet.use();
  }
  const nanoseconds time =
      in_its_scenario(times.of(job), description->task.parameters.expected_execution) -
      published_for;
  if (description->holds_locks()) {
    begin = pass_steps(begin, job, time, sampled);
    compute_until(begin, time);
  } else {
    compute_and_wait(begin, time, *description,
                     [&](std::size_t turn) { wait(turn, job, time, sampled); });
  }
  if (cut) {
    executor::leave_job_unfinished();
    return;
  }
  if (join != nullptr) {
    if (!join->store(input, sampled)) {
      return;
    }
    sampled = join->oldest();
  }
  const nanoseconds computed = description->in_thread ? thread_cpu_time() : nanoseconds{0};
  for (std::size_t i = 0; i < writes.size(); ++i) {
    for (std::int64_t left = counts[i].of(job); left > 0; --left) {
      writes[i].publish(sampled);
    }
  }
  if (description->in_thread) {
    published_for = thread_cpu_time() - computed;
  }
}

Members::Members(const Execution& execution, Common& common, Context context,
                 const std::vector<std::string>& nodes, Delivery delivery)
    : context_{std::move(context)},
      delivery_{delivery},
      readers_{readers_of(execution.application)},
      locks_{locks_of(execution.application, order_)} {
  const auto& callbacks = execution.application.callbacks;
  for (std::size_t place = 0; place < callbacks.size(); ++place) {
    if (std::ranges::find(nodes, callbacks[place].node_name()) != nodes.end()) {
      add(execution, common, callbacks[place], place);
    }
  }
  connect_joins(execution.application, members_, joins_);
  for (Member& member : members_) {
    for (std::size_t i = 0; i < member.writes.size(); ++i) {
      warm_up(execution, member.writes[i], readers_[member.description->task.writes[i]]);
    }
    for (std::optional<MemberCall>& call : member.calls) {
      if (call) {
        warm_up(execution, call->request, 1);
      }
    }
  }
}

void Members::add_devices(const Execution& execution, Common& common, Member& member) {
  const std::vector<std::string> devices = devices_of(execution.application);
  const std::vector<application::Segment>& segments = member.description->segments;
  for (std::size_t at = 1; at < segments.size(); at += 2) {
    const auto found = std::ranges::find(devices, segments[at].device);
    member.devices.push_back(
        found == devices.end() ? nullptr
                               : &common.device(static_cast<std::size_t>(found - devices.begin())));
  }
}

void Members::add_responses(const Execution& execution, Member& member, const Node& own) {
  const application::Callback& server = *member.description;
  if (!server.server) {
    return;
  }
  member.service = &services_.of(server.task.trigger);
  for (const std::size_t place : clients_elsewhere(execution.application, server)) {
    const auto client = static_cast<ClientNumber>(place + 1);
    member.responses.add(client,
                         own.create_publisher<Message>(response_topic(server.task.trigger, client),
                                                       QoS{response_depth}.reliable()));
  }
}

void Members::add_calls(const Execution& execution, Common& common, Member& member,
                        const Node& own) {
  const application::Callback& client = *member.description;
  const auto place = static_cast<std::size_t>(&client - execution.application.callbacks.data());
  for (std::size_t at = 1; client.calls() && at < client.segments.size(); at += 2) {
    std::optional<MemberCall>& call = member.calls.emplace_back();
    if (const std::string& service = client.segments[at].call; !service.empty()) {
      call.emplace(make_outlet(execution, common, own, service, delivery_, readers_[service]));
      if (is_elsewhere(execution.application, service, client)) {
        const auto number = static_cast<ClientNumber>(place + 1);
        call->request.sign_as(number);
        call->from_elsewhere =
            std::make_unique<ResponseInlet>(own, response_topic(service, number), services_.over());
      } else {
        call->client = &services_.add_client(service);
      }
    }
  }
}

void Members::add(const Execution& execution, Common& common, const application::Callback& callback,
                  std::size_t place) {
  const Node& own = node(callback.node_name());
  Member& member = members_.emplace_back(callback, execution.settings.seed, place);
  member.common = &common;
  member.locks = &locks_;
  const auto& topics = execution.application.topics;
  for (const sched::Read& read : callback.task.reads) {
    member.reads.emplace_back(own, read.topic,
                              qos_of(topics[place_of(execution.application, read.topic)]),
                              delivery_ == Delivery::own_callbacks);
  }
  for (const std::string& topic : callback.task.writes) {
    member.writes.push_back(make_outlet(execution, common, own, topic, delivery_, readers_[topic]));
    member.counts.emplace_back(callback, execution.settings.seed, place, member.counts.size());
  }
  add_responses(execution, member, own);
  add_calls(execution, common, member, own);
  add_devices(execution, common, member);
  if (callback.task.kind == sched::TaskKind::timer) {
    member.timer = own.create_timer(callback.task.parameters.period,
                                    [&member](const sched::Job& job) { member.on_timer(job); });
  } else {
    member.trigger = own.create_subscription<Message>(
        callback.task.trigger,
        qos_of(topics[place_of(execution.application, callback.task.trigger)]),
        [&member](const Message& message) { member.on_message(message); });
  }
}

Node& Members::node(const std::string& name) {
  const auto found = nodes_.find(name);
  return found != nodes_.end() ? found->second
                               : nodes_.emplace(name, Node{context_, name}).first->second;
}

void Members::number_topics(const std::function<std::uint16_t(const std::string&)>& number_of) {
  for (Member& member : members_) {
    for (Inlet& inlet : member.reads) {
      inlet.number = number_of(inlet.subscription()->get_topic_name());
    }
    for (Outlet& outlet : member.writes) {
      outlet.number = number_of(outlet.publisher()->get_topic_name());
    }
    for (std::optional<MemberCall>& call : member.calls) {
      if (call) {
        call->request.number = number_of(call->request.publisher()->get_topic_name());
      }
    }
    if (member.trigger) {
      member.trigger_number = number_of(member.trigger->get_topic_name());
    }
  }
}

void Members::wait_for_readers(const os::StopFlag& stop) const {
  for (const Member& member : members_) {
    for (std::size_t i = 0; i < member.writes.size(); ++i) {
      const auto readers = readers_.find(member.description->task.writes[i]);
      if (readers != readers_.end()) {
        wait_for(*member.writes[i].publisher(), readers->second, stop);
      }
    }
    for (const std::optional<MemberCall>& call : member.calls) {
      if (call) {
        wait_for(*call->request.publisher(), 1, stop);
      }
    }
    for (const auto& [client, response] : member.responses.clients()) {
      wait_for(*response, 1, stop);
    }
  }
}

void Members::end_calls() noexcept {
  services_.end();
  for (Member& member : members_) {
    for (std::optional<MemberCall>& call : member.calls) {
      if (call && call->from_elsewhere) {
        call->from_elsewhere->end();
      }
    }
  }
}

Feeder::Feeder(const Execution& execution, Common& common, const Context& context,
               Delivery delivery) {
  auto readers = readers_of(execution.application);
  for (const application::Topic& topic : execution.application.topics) {
    if (!is_fed_on(execution.application, topic, execution.settings.host)) {
      continue;
    }
    if (node_.empty()) {
      node_.emplace_back(context, "takt_outside");
    }
    outside_.push_back({.outlet = make_outlet(execution, common, node_.front(), topic.name,
                                              delivery, readers[topic.name]),
                        .burst = Burst{topic},
                        .readers = readers[topic.name]});
    warm_up(execution, outside_.back().outlet, readers[topic.name]);
  }
}

void Feeder::number_topics(const std::function<std::uint16_t(const std::string&)>& number_of) {
  for (OutsideTopic& topic : outside_) {
    topic.outlet.number = number_of(topic.outlet.publisher()->get_topic_name());
  }
}

void Feeder::wait_for_readers(const os::StopFlag& stop) const {
  for (const OutsideTopic& topic : outside_) {
    wait_for(*topic.outlet.publisher(), topic.readers, stop);
  }
}

void Feeder::feed(os::TimePoint start, os::TimePoint end, const os::StopFlag& stop,
                  trace::Recorder recorder) noexcept {
  feed_topics(outside_, start, end, stop, recorder);
}

}  // namespace takt::runner
