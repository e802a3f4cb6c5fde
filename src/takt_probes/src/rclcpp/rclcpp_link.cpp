// SPDX-License-Identifier: Apache-2.0
#include "rclcpp_link.hpp"

#include <exception>
#include <rclcpp/create_publisher.hpp>
#include <rclcpp/create_subscription.hpp>
#include <utility>

#include "meeting.hpp"
#include "node_of.hpp"
#include "shared_memory.hpp"

namespace takt::probe {
namespace {

rclcpp::QoS qos_of(const Options& options) {
  rclcpp::QoS qos{options.depth};
  if (options.history == History::keep_all) {
    qos.keep_all();
  }
  if (options.durability == Durability::transient_local) {
    qos.transient_local();
  }
  return options.reliability == Reliability::reliable ? qos.reliable() : qos.best_effort();
}

}  // namespace

template <class Body>
RclcppLink<Body>::RclcppLink(const Options& options, Role role, os::StopFlag& stop,
                             SentAddresses& addresses)
    : options_{options},
      role_{role},
      addresses_{addresses},
      stop_{stop},
      messages_{stop},
      node_{node_of(role, by_pointer(options))},
      outgoing_{fresh()} {
  subscribe(is_active(role) ? topic_back(options) : topic_there(options));
  if (is_active(role)) {
    create_publisher(topic_there(options));
  }
  spinner_.emplace(options, role, node_, stop);
}

template <class Body>
RclcppLink<Body>::~RclcppLink() = default;

template <class Body>
void RclcppLink<Body>::subscribe(const std::string& topic) {
  const auto qos = qos_of(options_);
  if (options_.transport == "unique_ptr") {
    in_ = node_->create_subscription<Type>(topic, qos,
                                           [this](std::unique_ptr<Type> taken) { heard(*taken); });
  } else if (options_.transport == "shared_ptr") {
    in_ = node_->create_subscription<Type>(
        topic, qos, [this](std::shared_ptr<const Type> taken) { heard(*taken); });
  } else {
    in_ = node_->create_subscription<Type>(topic, qos, [this](const Type& taken) { heard(taken); });
  }
}

template <class Body>
std::unique_ptr<typename Body::Type> RclcppLink<Body>::fresh() const {
  auto made = std::make_unique<Type>();
  Body::make_room(*made, options_.payload_bytes);
  return made;
}

template <class Body>
void RclcppLink<Body>::create_publisher(const std::string& topic) {
  const std::lock_guard lock{mutex_};
  out_ = node_->create_publisher<Type>(topic, qos_of(options_));
}

template <class Body>
bool RclcppLink<Body>::connect(os::TimePoint deadline) {
  const auto found = [this] { return in_->get_publisher_count(); };
  const auto heard_by = [this] { return out_->get_subscription_count(); };
  if (is_active(role_)) {
    const std::size_t wanted = role_ == Role::publisher ? options_.subscribers : 1;
    return wait_for_meeting(options_, stop_, deadline,
                            [&] { return found() >= wanted && heard_by() >= wanted; });
  }
  if (!wait_for_meeting(options_, stop_, deadline, [&] { return found() >= 1; })) {
    return false;
  }
  create_publisher(topic_back(options_));
  return wait_for_meeting(options_, stop_, deadline, [&] { return heard_by() >= 1; });
}

template <class Body>
void RclcppLink<Body>::heard(const Type& taken) {
  const auto now = os::now();
  if (role_ == Role::pong) {
    const std::lock_guard lock{mutex_};
    try {
      out_->publish(taken);
    } catch (const std::exception& error) {
      failure_ = error.what();
    }
  }
  if (auto message = Body::read(taken)) {
    message->received = now;
    if (by_pointer(options_) && !message->last) {
      addresses_.compare(message->sequence, &taken);
    }
    messages_.put(*message);
  }
}

template <class Body>
bool RclcppLink<Body>::send(const Message& message) noexcept {
  try {
    if (!outgoing_) {  // went with a publish() that failed
      outgoing_ = fresh();
    }
    Body::write(*outgoing_, message);
    if (by_pointer(options_) && !message.last) {
      addresses_.note(message.sequence, outgoing_.get());
    }
    if (options_.transport == "unique_ptr") {
      out_->publish(std::move(outgoing_));
      outgoing_ = fresh();  // the next one, not in its latency
    } else {
      out_->publish(*outgoing_);
    }
    return true;
  } catch (const std::exception& error) {
    const std::lock_guard lock{mutex_};
    failure_ = error.what();
    return false;
  }
}

template <class Body>
bool RclcppLink<Body>::reply() noexcept {
  const std::lock_guard lock{mutex_};
  return failure_.empty();
}

template <class Body>
std::optional<Message> RclcppLink<Body>::receive(os::TimePoint deadline) noexcept {
  return messages_.take(deadline);
}

template <class Body>
void RclcppLink<Body>::leave() noexcept {
  const std::lock_guard lock{mutex_};
  out_.reset();
}

template <class Body>
std::size_t RclcppLink<Body>::peers() const noexcept {
  return in_->get_publisher_count();
}

template <class Body>
std::optional<os::NotGranted> RclcppLink<Body>::problem() const {
  const std::lock_guard lock{mutex_};
  if (failure_.empty()) {
    return spinner_->problem();
  }
  return os::NotGranted{.what = "the middleware could not send a message",
                        .why = failure_,
                        .fix = "look at the middleware's own output above"};
}

template <class Body>
std::optional<os::NotGranted> RclcppLink<Body>::detour() const {
  return detour_of(options_);
}

template <class Body>
std::optional<AddressCheck> RclcppLink<Body>::addresses() const {
  return by_pointer(options_) ? std::optional{addresses_.result()} : std::nullopt;
}

template class RclcppLink<BytesBody>;
template class RclcppLink<StringBody>;

}  // namespace takt::probe
