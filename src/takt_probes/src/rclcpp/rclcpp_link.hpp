// SPDX-License-Identifier: Apache-2.0
//
// One end of a connection: a publisher, and a subscription whose callback an executor runs. The
// time of a message's arrival is that of its callback; a pong replies there, too, as a node does.
//
// By pointer (transports unique_ptr, shared_ptr, const_ref) messages go from one node to another of
// this process without the middleware: named after what the callback takes. Only a unique_ptr can
// be published as such; rclcpp takes everything else by reference, and makes a copy to hand over.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <rclcpp/node.hpp>
#include <rclcpp/publisher.hpp>
#include <rclcpp/subscription.hpp>
#include <string>

#include "ros2_content.hpp"
#include "sent_addresses.hpp"
#include "spinner.hpp"
#include "takt/probe/link.hpp"

namespace takt::probe {

/// `Body`: of its messages (ros2_content.hpp). `addresses` outlives the link.
template <class Body>
class RclcppLink : public Link {
 public:
  RclcppLink(const Options& options, Role role, os::StopFlag& stop, SentAddresses& addresses);
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
  std::optional<os::NotGranted> problem() const override;
  std::optional<os::NotGranted> detour() const override;
  std::optional<AddressCheck> addresses() const override;

 private:
  using Type = typename Body::Type;

  void subscribe(const std::string& topic);
  std::unique_ptr<Type> fresh() const;
  void heard(const Type& taken);
  void create_publisher(const std::string& topic);

  const Options& options_;
  Role role_;
  SentAddresses& addresses_;
  os::StopFlag& stop_;
  Handover<Message> messages_;
  rclcpp::Node::SharedPtr node_;
  mutable std::mutex mutex_;  // of out_ and failure_: a pong's publisher comes while it spins
  typename rclcpp::Publisher<Type>::SharedPtr out_;
  std::string failure_;
  typename rclcpp::Subscription<Type>::SharedPtr in_;
  std::unique_ptr<Type> outgoing_;  // of unique_ptr each time a fresh one
  std::optional<Spinner> spinner_;
};

}  // namespace takt::probe
