// SPDX-License-Identifier: Apache-2.0
/// @file
/// Node: a name in the ROS graph under which publishers, subscriptions and timers are created.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <takt/rcl/context.hpp>
#include <takt/rcl/publisher.hpp>
#include <takt/rcl/qos.hpp>
#include <takt/rcl/subscription.hpp>
#include <takt/rcl/subscription_options.hpp>
#include <takt/rcl/timer.hpp>
#include <takt/rcl/visibility.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace takt {

/// A handle: copies share one node, which exists as long as any copy or any entity created from it,
/// and keeps its context alive; so the order of destruction does not matter. Thread-safe: several
/// threads may create and destroy entities.
class TAKT_RCL_PUBLIC Node {
 public:
  /// @param context the participation to join.
  /// @param name without slashes.
  /// @param name_space empty: "/".
  /// @throws RclError for a name that ROS does not allow, or after Context::shutdown().
  Node(const Context& context, const std::string& name, const std::string& name_space = "");

  /// The name after remapping.
  [[nodiscard]] std::string get_name() const;

  /// The namespace after remapping, beginning with "/".
  [[nodiscard]] std::string get_namespace() const;

  /// Namespace and name: "/robot/radar".
  [[nodiscard]] std::string get_fully_qualified_name() const;

  /// The context that it belongs to.
  [[nodiscard]] const Context& get_context() const noexcept { return context_; }

  /// Creates a publisher.
  /// @tparam MessageT a generated message type.
  /// @param topic relative to the namespace, absolute ("/scan") or private ("~/scan").
  /// @param qos how to transport the messages.
  /// @throws RclError for a name that ROS does not allow, a QoS that the middleware refuses, or
  /// after Context::shutdown().
  template <class MessageT>
  [[nodiscard]] std::shared_ptr<Publisher<MessageT>> create_publisher(const std::string& topic,
                                                                      const QoS& qos) const {
    return std::make_shared<Publisher<MessageT>>(handle_, topic, qos);
  }

  /// Creates a subscription without a callback: the program takes messages itself, or an executor's
  /// tasks read it as Subscription::latest().
  /// @throws RclError as create_publisher() does.
  template <class MessageT>
  [[nodiscard]] std::shared_ptr<Subscription<MessageT>> create_subscription(
      const std::string& topic, const QoS& qos, const SubscriptionOptions& options = {}) const {
    return make_subscription<MessageT>(topic, qos, options, {});
  }

  /// Creates a subscription with a callback that an executor runs, in one of the forms of
  /// MessageCallback.
  /// @throws RclError as create_publisher() does.
  template <class MessageT, class Function>
    requires(!std::is_convertible_v<Function, SubscriptionOptions>)
  [[nodiscard]] std::shared_ptr<Subscription<MessageT>> create_subscription(
      const std::string& topic, const QoS& qos, Function callback,
      const SubscriptionOptions& options = {}) const {
    return make_subscription<MessageT>(topic, qos, options,
                                       MessageCallback<MessageT>{std::move(callback)});
  }

  /// Creates a timer that an executor runs.
  /// @param period distance of two releases; above zero.
  /// @param callback void() or void(const Job&).
  /// @throws std::invalid_argument if the period is not above zero.
  template <class Function>
  [[nodiscard]] std::shared_ptr<Timer> create_timer(std::chrono::nanoseconds period,
                                                    Function callback) const {
    return add_timer(period, Timer::make_callback(std::move(callback)));
  }

  /// The timers of the node that still exist, in the order of creation.
  [[nodiscard]] std::vector<std::shared_ptr<Timer>> get_timers() const;

  /// The subscriptions of the node that still exist, in the order of creation.
  [[nodiscard]] std::vector<std::shared_ptr<SubscriptionBase>> get_subscriptions() const;

 private:
  template <class MessageT>
  std::shared_ptr<Subscription<MessageT>> make_subscription(
      const std::string& topic, const QoS& qos, const SubscriptionOptions& options,
      MessageCallback<MessageT> callback) const {
    auto subscription =
        std::make_shared<Subscription<MessageT>>(handle_, topic, qos, options, std::move(callback));
    keep(subscription);
    return subscription;
  }
  [[nodiscard]] std::shared_ptr<Timer> add_timer(std::chrono::nanoseconds period,
                                                 Timer::Callback callback) const;
  void keep(const std::shared_ptr<SubscriptionBase>& subscription) const;

  Context context_;
  std::shared_ptr<detail::NodeHandle> handle_;
};

}  // namespace takt
