// SPDX-License-Identifier: Apache-2.0
//
// Node: a name in the ROS graph under which publishers, subscriptions and timers are created.
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

// A handle: copies share one node, which lives as long as any of them or any entity created from
// it, and keeps its context alive; so the order of destruction does not matter. Entities may be
// created and destroyed by several threads.
class TAKT_RCL_PUBLIC Node {
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

  // Without a callback: to be taken from by hand, or read by an executor's tasks as latest().
  template <class MessageT>
  [[nodiscard]] std::shared_ptr<Subscription<MessageT>> create_subscription(
      const std::string& topic, const QoS& qos, const SubscriptionOptions& options = {}) const {
    return make_subscription<MessageT>(topic, qos, options, {});
  }

  // With a callback that an executor runs, in one of the forms of MessageCallback.
  template <class MessageT, class Function>
    requires(!std::is_convertible_v<Function, SubscriptionOptions>)
  [[nodiscard]] std::shared_ptr<Subscription<MessageT>> create_subscription(
      const std::string& topic, const QoS& qos, Function callback,
      const SubscriptionOptions& options = {}) const {
    return make_subscription<MessageT>(topic, qos, options,
                                       MessageCallback<MessageT>{std::move(callback)});
  }

  // A callback with a period, void() or void(const Job&), that an executor runs. Throws
  // std::invalid_argument for a period that is not above zero.
  template <class Function>
  [[nodiscard]] std::shared_ptr<Timer> create_timer(std::chrono::nanoseconds period,
                                                    Function callback) const {
    return add_timer(period, Timer::make_callback(std::move(callback)));
  }

  // What was created and still lives, in the order of creation.
  [[nodiscard]] std::vector<std::shared_ptr<Timer>> get_timers() const;
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
