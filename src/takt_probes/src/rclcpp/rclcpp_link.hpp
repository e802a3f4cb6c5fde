// SPDX-License-Identifier: Apache-2.0
//
// One end of a connection: a publisher, and a subscription whose callback an executor runs. The
// time of a message's arrival is that of its callback; a pong replies there, too, as a node does.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <rclcpp/node.hpp>
#include <rclcpp/publisher.hpp>
#include <rclcpp/subscription.hpp>
#include <string>
#include <takt_interfaces/msg/sample.hpp>

#include "spinner.hpp"
#include "takt/probe/link.hpp"

namespace takt::probe {

class RclcppLink : public Link {
 public:
  RclcppLink(const Options& options, Role role, os::StopFlag& stop);
  ~RclcppLink() override;
  RclcppLink(const RclcppLink&) = delete;
  RclcppLink& operator=(const RclcppLink&) = delete;
  RclcppLink(RclcppLink&&) = delete;
  RclcppLink& operator=(RclcppLink&&) = delete;

  bool connect(os::TimePoint deadline) override;
  bool send(const Message& message) noexcept override;
  /// Whether the callback's own reply went out.
  bool reply() noexcept override;
  std::optional<Message> receive(os::TimePoint deadline) noexcept override;
  void leave() noexcept override;
  std::size_t peers() const noexcept override;
  std::optional<os::Shortfall> problem() const override;
  std::optional<os::Shortfall> detour() const override;

 private:
  using Sample = takt_interfaces::msg::Sample;

  void heard(const Sample& sample);
  void create_publisher(const std::string& topic);

  const Options& options_;
  Role role_;
  os::StopFlag& stop_;
  Handover<Message> messages_;
  ::rclcpp::Node::SharedPtr node_;
  mutable std::mutex mutex_;  // of out_ and failure_: a pong's publisher comes while it spins
  ::rclcpp::Publisher<Sample>::SharedPtr out_;
  std::string failure_;
  ::rclcpp::Subscription<Sample>::SharedPtr in_;
  Sample outgoing_;
  std::optional<Spinner> spinner_;
};

}  // namespace takt::probe
