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

class Ros1Link : public Link {
 public:
  Ros1Link(const Options& options, Role role, os::StopFlag& stop);

  bool connect(os::TimePoint deadline) override;
  bool send(const Message& message) noexcept override;
  bool reply() noexcept override;
  std::optional<Message> receive(os::TimePoint deadline) noexcept override;
  void leave() noexcept override { in_.shutdown(); }
  std::size_t peers() const noexcept override { return out_.getNumSubscribers(); }
  std::optional<os::Shortfall> problem() const override;

 private:
  bool publish(const Ros1Sample& message) noexcept;

  const Options& options_;
  Role role_;
  os::StopFlag& stop_;
  CallbackLane lane_;
  Ros1Sample outgoing_;
  boost::shared_ptr<const Ros1Sample> taken_;
  std::string failure_;
  ros::Publisher out_;  // subscribers have none
  ros::Subscriber in_;  // publishers have none
};

}  // namespace takt::probe
