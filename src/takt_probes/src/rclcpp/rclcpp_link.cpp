// SPDX-License-Identifier: Apache-2.0
#include "rclcpp_link.hpp"

#include <exception>
#include <rclcpp/create_publisher.hpp>
#include <rclcpp/create_subscription.hpp>

#include "meeting.hpp"
#include "node_of.hpp"
#include "shared_memory.hpp"

namespace takt::probe {
namespace {

using std::chrono::nanoseconds;

::rclcpp::QoS qos_of(const Options& options) {
  ::rclcpp::QoS qos{options.depth};
  if (options.history == History::keep_all) {
    qos.keep_all();
  }
  if (options.durability == Durability::transient_local) {
    qos.transient_local();
  }
  return options.reliability == Reliability::reliable ? qos.reliable() : qos.best_effort();
}

}  // namespace

RclcppLink::RclcppLink(const Options& options, Role role, os::StopFlag& stop)
    : options_{options}, role_{role}, stop_{stop}, messages_{stop}, node_{node_of(role)} {
  outgoing_.payload.resize(options.payload_bytes);
  in_ = node_->create_subscription<Sample>(
      is_active(role) ? topic_back(options) : topic_there(options), qos_of(options),
      [this](const Sample& sample) { heard(sample); });
  if (is_active(role)) {
    create_publisher(topic_there(options));
  }
  spinner_.emplace(options, role, node_, stop);
}

RclcppLink::~RclcppLink() = default;

void RclcppLink::create_publisher(const std::string& topic) {
  const std::lock_guard lock{mutex_};
  out_ = node_->create_publisher<Sample>(topic, qos_of(options_));
}

bool RclcppLink::connect(os::TimePoint deadline) {
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

void RclcppLink::heard(const Sample& sample) {
  const auto now = os::now();
  if (role_ == Role::pong) {
    const std::lock_guard lock{mutex_};
    try {
      out_->publish(sample);
    } catch (const std::exception& error) {
      failure_ = error.what();
    }
  }
  messages_.put({.sequence = sample.sequence,
                 .intended = os::TimePoint{nanoseconds{sample.intended_ns}},
                 .sent = os::TimePoint{nanoseconds{sample.sent_ns}},
                 .last = sample.last,
                 .received = now});
}

bool RclcppLink::send(const Message& message) noexcept {
  outgoing_.sequence = message.sequence;
  outgoing_.intended_ns = message.intended.time_since_epoch().count();
  outgoing_.sent_ns = message.sent.time_since_epoch().count();
  outgoing_.last = message.last;
  try {
    out_->publish(outgoing_);
    return true;
  } catch (const std::exception& error) {
    const std::lock_guard lock{mutex_};
    failure_ = error.what();
    return false;
  }
}

bool RclcppLink::reply() noexcept {
  const std::lock_guard lock{mutex_};
  return failure_.empty();
}

std::optional<Message> RclcppLink::receive(os::TimePoint deadline) noexcept {
  return messages_.take(deadline);
}

void RclcppLink::leave() noexcept {
  const std::lock_guard lock{mutex_};
  out_.reset();
}

std::size_t RclcppLink::peers() const noexcept {
  return in_->get_publisher_count();
}

std::optional<os::Shortfall> RclcppLink::problem() const {
  const std::lock_guard lock{mutex_};
  if (failure_.empty()) {
    return spinner_->problem();
  }
  return os::Shortfall{.what = "the middleware could not send a message",
                       .why = failure_,
                       .fix = "look at the middleware's own output above"};
}

std::optional<os::Shortfall> RclcppLink::detour() const {
  return detour_of(options_);
}

}  // namespace takt::probe
