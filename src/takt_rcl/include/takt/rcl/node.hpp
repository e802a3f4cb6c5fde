// SPDX-License-Identifier: Apache-2.0
//
// Node: a name in the ROS graph under which publishers and subscriptions are created.
#pragma once

#include <memory>
#include <string>
#include <takt/rcl/context.hpp>
#include <takt/rcl/publisher.hpp>
#include <takt/rcl/qos.hpp>
#include <takt/rcl/subscription.hpp>
#include <takt/rcl/subscription_options.hpp>

namespace takt {

// A handle: copies share one node, which lives as long as any of them or any entity created from
// it, and keeps its context alive; so the order of destruction does not matter. Entities may be
// created and destroyed by several threads.
class Node {
 public:
  // Throws RclError (a name that ROS does not allow, a context that was shut down).
  Node(const Context& context, const std::string& name, const std::string& name_space = "");

  [[nodiscard]] std::string get_name() const;
  [[nodiscard]] std::string get_namespace() const;
  [[nodiscard]] std::string get_fully_qualified_name() const;
  [[nodiscard]] const Context& get_context() const noexcept { return context_; }

  // `topic` is relative to the namespace, absolute ("/scan") or private ("~/scan"). Throws
  // RclError.
  template <class MessageT>
  [[nodiscard]] std::shared_ptr<Publisher<MessageT>> create_publisher(const std::string& topic,
                                                                      const QoS& qos) const {
    return std::make_shared<Publisher<MessageT>>(handle_, topic, qos);
  }

  template <class MessageT>
  [[nodiscard]] std::shared_ptr<Subscription<MessageT>> create_subscription(
      const std::string& topic, const QoS& qos, const SubscriptionOptions& options = {}) const {
    return std::make_shared<Subscription<MessageT>>(handle_, topic, qos, options);
  }

 private:
  Context context_;
  std::shared_ptr<detail::NodeHandle> handle_;
};

}  // namespace takt
