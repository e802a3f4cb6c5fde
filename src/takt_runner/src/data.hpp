// SPDX-License-Identifier: Apache-2.0
//
// The ends of a topic in a callback. Every message carries its sequence, when the data at the head
// of its chain was sampled, and a payload of the declared size; the trace tells which message was
// made and which one was used.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <takt/os/clock.hpp>
#include <takt/rcl/node.hpp>
#include <takt/trace/current.hpp>
#include <takt_interfaces/msg/sample.hpp>
#include <utility>
#include <vector>

#include "common.hpp"
#include "responses.hpp"

namespace takt::runner {

using Message = takt_interfaces::msg::Sample;

class Outlet {
 public:
  // `by_pointer`: messages are filled in memory that the readers have given back; else one message
  // of the outlet's own is published by reference.
  Outlet(std::shared_ptr<Publisher<Message>> publisher, Common& common, std::size_t topic,
         std::size_t bytes, bool by_pointer)
      : publisher_{std::move(publisher)},
        common_{&common},
        topic_{topic},
        bytes_{bytes},
        by_pointer_{by_pointer},
        own_{std::make_shared<Message>()} {
    own_->payload.resize(bytes_);
  }

  // Touches the memory of so many messages, which is not for the loop.
  void warm_up(std::size_t messages) {
    if (!by_pointer_) return;
    std::vector<std::shared_ptr<Message>> all(messages);
    for (auto& message : all) {
      message = publisher_->reuse_message();
      message->payload.resize(bytes_);
    }
  }

  // Its messages are requests of this client. Before warm_up().
  void sign_as(ClientNumber client) {
    client_ = client;
    bytes_ = std::max(bytes_, sizeof client);
    own_->payload.resize(bytes_);
  }

  // The number of its next message, for publish().
  [[nodiscard]] std::int64_t next_sequence() noexcept { return common_->next_sequence(topic_); }

  void publish(os::TimePoint sampled) noexcept { publish(sampled, next_sequence()); }

  void publish(os::TimePoint sampled, std::int64_t sequence) noexcept {
    std::shared_ptr<Message> message = by_pointer_ ? publisher_->reuse_message() : own_;
    message->payload.resize(bytes_);
    if (client_ != no_client) sign(*message, client_);
    message->sequence = static_cast<std::uint64_t>(sequence);
    message->intended_ns = common_->stamp(sampled);
    const os::TimePoint published_at = os::now();
    message->sent_ns = common_->stamp(published_at);
    const Status status =
        by_pointer_ ? publisher_->publish(std::move(message)) : publisher_->publish(*message);
    if (status) trace::record_in_job(trace::EventType::publish, published_at, number, sequence);
  }

  [[nodiscard]] const std::shared_ptr<Publisher<Message>>& publisher() const noexcept {
    return publisher_;
  }
  [[nodiscard]] std::size_t topic() const noexcept { return topic_; }

  std::uint16_t number{trace::no_topic};  // in the trace

 private:
  std::shared_ptr<Publisher<Message>> publisher_;
  Common* common_;
  std::size_t topic_;
  std::size_t bytes_;
  bool by_pointer_;
  ClientNumber client_{no_client};
  std::shared_ptr<Message> own_;
};

// What a callback reads before it computes. `stored`: the subscription's own callback keeps the
// newest message, as applications do whose executor does not bring data to timers; else latest().
class Inlet {
 public:
  Inlet(const Node& node, const std::string& topic, const QoS& qos, bool stored) {
    if (stored) {
      newest_ = std::make_shared<std::shared_ptr<const Message>>();
      subscription_ = node.create_subscription<Message>(
          topic, qos, [newest = newest_](std::shared_ptr<const Message> message) {
            *newest = std::move(message);
          });
    } else {
      subscription_ = node.create_subscription<Message>(topic, qos);
    }
  }

  void use() const noexcept {
    const std::shared_ptr<const Message> message = newest_ ? *newest_ : subscription_->latest();
    trace::record_in_job(trace::EventType::use, os::now(), number,
                         message ? static_cast<std::int64_t>(message->sequence) : -1);
  }

  [[nodiscard]] const std::shared_ptr<Subscription<Message>>& subscription() const noexcept {
    return subscription_;
  }

  std::uint16_t number{trace::no_topic};  // in the trace

 private:
  std::shared_ptr<Subscription<Message>> subscription_;
  std::shared_ptr<std::shared_ptr<const Message>> newest_;  // written and read by one thread
};

}  // namespace takt::runner
