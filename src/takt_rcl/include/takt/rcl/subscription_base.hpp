// SPDX-License-Identifier: Apache-2.0
//
// SubscriptionBase: what a subscription does without knowing the type of its messages.
#pragma once

#include <rcl/subscription.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <takt/rcl/message_info.hpp>
#include <takt/rcl/qos.hpp>
#include <takt/rcl/status.hpp>
#include <takt/rcl/subscription_options.hpp>
#include <type_traits>
#include <utility>

namespace takt {

namespace detail {
struct NodeHandle;
}

class SubscriptionBase : public std::enable_shared_from_this<SubscriptionBase> {
 public:
  SubscriptionBase(const SubscriptionBase&) = delete;
  SubscriptionBase& operator=(const SubscriptionBase&) = delete;

  // `function(count)` is called for every `count` messages that arrived, instead of waiting in a
  // wait set. It must be noexcept and must not block, wait, take, or set callbacks: it runs on a
  // thread of the middleware, under the middleware's lock of this subscription, and delays every
  // message behind it. Hand over to a thread of your own (an event, a lock-free queue) and take
  // there.
  // - From a publisher of this process it runs inside publish(), on the publishing thread; from
  //   another process on a receiving thread of the middleware.
  // - Messages that wait when it is set are reported once, in one call on the setting thread.
  // - `count` is no promise: a full KEEP_LAST history drops messages after they were reported, so a
  //   take that finds nothing is normal. Take until nothing is left instead of counting.
  // When this returns, the function that was set before is neither running nor called again.
  // Set it again or clear it only outside of the function itself. Throws RclError.
  template <class Function>
  void set_on_new_message_callback(Function function) {
    static_assert(
        std::is_nothrow_invocable_v<Function&, std::size_t>,
        "the callback must be callable as void(std::size_t) noexcept: it runs on a thread "
        "of the middleware, where nothing could catch an exception");
    install_callback(std::make_unique<Callback>(std::move(function)));
  }
  void clear_on_new_message_callback();

  // Publishers connected now, of all processes; 0 also when the middleware cannot tell.
  [[nodiscard]] std::size_t get_publisher_count() const noexcept;

  // True when take_loaned() can work: the type has a fixed size, the middleware lends, and the
  // options or ROS_DISABLE_LOANED_MESSAGES=0 allow it.
  [[nodiscard]] bool can_loan_messages() const noexcept;

  // The full name, after expansion and remapping.
  [[nodiscard]] std::string get_topic_name() const;

  // What the middleware granted. Throws RclError when it cannot tell.
  [[nodiscard]] QoS get_actual_qos() const;

 protected:
  SubscriptionBase(std::shared_ptr<detail::NodeHandle> node,
                   const rosidl_message_type_support_t* type_support, const std::string& topic,
                   const QoS& qos, const SubscriptionOptions& options);
  ~SubscriptionBase();

  [[nodiscard]] Status take_message(void* message, MessageInfo& info) noexcept;
  [[nodiscard]] Status take_loan(void*& message, MessageInfo& info) noexcept;

 private:
  template <class>
  friend class ReceivedLoan;
  using Callback = std::function<void(std::size_t)>;

  void install_callback(std::unique_ptr<Callback> callback);
  void return_loan(void* message) noexcept;

  std::shared_ptr<detail::NodeHandle> node_;
  rcl_subscription_t subscription_;
  std::unique_ptr<Callback> callback_;
};

}  // namespace takt
