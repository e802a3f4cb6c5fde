// SPDX-License-Identifier: Apache-2.0
//
// Topics of ROS 1. A thread of roscpp reads the socket and queues the message; the probe's thread
// takes it from there.
#pragma once

#include <string>

#include "ros1_message.hpp"
#include "ros1_node.hpp"
#include "takt/probe/link.hpp"

namespace takt::probe {

/// `Body`: of its messages (ros1_message.hpp).
template <class Body>
class Ros1Link : public Link {
 public:
  Ros1Link(const Options& options, Role role, os::StopFlag& stop);

  bool connect(os::TimePoint deadline) override;
  bool send(const Message& message) noexcept override;
  bool reply() noexcept override;
  std::optional<Message> receive(os::TimePoint deadline) noexcept override;
  void leave() noexcept override { in_.shutdown(); }
  std::size_t peers() const noexcept override { return out_.getNumSubscribers(); }
  std::optional<os::NotGranted> problem() const override;

 private:
  using Type = typename Body::Type;

  bool publish(const Type& message) noexcept;

  const Options& options_;
  Role role_;
  os::StopFlag& stop_;
  CallbackLane lane_;
  Type outgoing_;
  boost::shared_ptr<const Type> taken_;
  std::optional<Message> head_;  // of what was taken
  std::string failure_;
  ros::Publisher out_;  // subscribers have none
  ros::Subscriber in_;  // publishers have none
};

}  // namespace takt::probe
