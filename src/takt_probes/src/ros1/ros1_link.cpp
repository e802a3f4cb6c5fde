// SPDX-License-Identifier: Apache-2.0
#include "ros1_link.hpp"

#include <ros/transport_hints.h>

#include <exception>

#include "meeting.hpp"

namespace takt::probe {
namespace {

using namespace std::chrono_literals;

/// A UDP connection stands for the publisher before the subscriber has its answer and its thread
/// that reads sockets has looked at the new one, which takes a few turns of up to 100 ms each. What
/// comes earlier would be late, or lost.
constexpr std::chrono::milliseconds udp_settling{500};

ros::TransportHints hints_of(const Options& options) {
  ros::TransportHints hints;
  if (options.transport == "udpros") {
    return hints.unreliable();
  }
  return options.transport == "tcpros_nodelay" ? hints.tcpNoDelay() : hints.tcp();
}

}  // namespace

template <class Body>
Ros1Link<Body>::Ros1Link(const Options& options, Role role, os::StopFlag& stop)
    : options_{options}, role_{role}, stop_{stop} {
  Body::make_room(outgoing_, options.payload_bytes);
  const auto depth = static_cast<std::uint32_t>(options.depth);
  if (role != Role::subscriber) {
    out_ = lane_.handle.advertise<Type>(
        is_active(role) ? topic_there(options) : topic_back(options), depth);
  }
  if (role != Role::publisher) {
    using Taken = boost::shared_ptr<const Type>;
    in_ = lane_.handle.subscribe<Type>(
        is_active(role) ? topic_back(options) : topic_there(options), depth,
        boost::function<void(const Taken&)>{[this](const Taken& message) {
          taken_ = message;
          head_ = Body::read(*message);
        }},
        ros::VoidConstPtr{}, hints_of(options));
  }
}

template <class Body>
bool Ros1Link<Body>::connect(os::TimePoint deadline) {
  // A publisher counts a subscriber when the connection stands: nothing is lost from then on. The
  // pong, too, must not answer before; what comes earlier waits in its queue.
  const std::size_t wanted = role_ == Role::publisher    ? options_.subscribers
                             : role_ == Role::subscriber ? 0
                                                         : 1;
  const auto met = [&] { return out_.getNumSubscribers() >= wanted; };
  if (!wait_for_meeting(options_, stop_, deadline, met)) {
    return false;
  }
  const bool settle = is_active(role_) && options_.transport == "udpros";
  return !settle || !stop_.wait_until(os::now() + udp_settling);
}

template <class Body>
bool Ros1Link<Body>::publish(const Type& message) noexcept {
  try {
    out_.publish(message);
    return true;
  } catch (const std::exception& error) {
    failure_ = error.what();
    return false;
  }
}

template <class Body>
bool Ros1Link<Body>::send(const Message& message) noexcept {
  Body::write(outgoing_, message);
  return publish(outgoing_);
}

template <class Body>
bool Ros1Link<Body>::reply() noexcept {
  return publish(*taken_);
}

template <class Body>
std::optional<Message> Ros1Link<Body>::receive(os::TimePoint deadline) noexcept {
  try {
    taken_.reset();
    head_.reset();
    if (!lane_.run_until(deadline, options_, stop_, [this] { return head_.has_value(); })) {
      return {};
    }
    return head_;
  } catch (const std::exception& error) {
    failure_ = error.what();
    return {};
  }
}

template <class Body>
std::optional<os::NotGranted> Ros1Link<Body>::problem() const {
  if (failure_.empty()) {
    return {};
  }
  return os::NotGranted{.what = "roscpp could not send or take a message",
                        .why = failure_,
                        .fix = "look at roscpp's own output above"};
}

template class Ros1Link<Ros1Bytes>;
template class Ros1Link<Ros1Text>;

}  // namespace takt::probe
