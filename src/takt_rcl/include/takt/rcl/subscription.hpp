// SPDX-License-Identifier: Apache-2.0
//
// Subscription: receives messages of one type from one topic. Made by Node::create_subscription.
//
// Messages wait in the history of the middleware until they are taken; a callback tells that there
// are some (set_on_new_message_callback), so no wait set is needed.
#pragma once

#include <memory>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <string>
#include <takt/rcl/message_info.hpp>
#include <takt/rcl/received_loan.hpp>
#include <takt/rcl/subscription_base.hpp>
#include <utility>

namespace takt {

// One thread at a time takes from a subscription and sets its callback; different subscriptions are
// independent of each other.
template <class MessageT>
class Subscription final : public SubscriptionBase {
 public:
  // Through Node::create_subscription. Throws RclError.
  Subscription(std::shared_ptr<detail::NodeHandle> node, const std::string& topic, const QoS& qos,
               const SubscriptionOptions& options)
      : SubscriptionBase{std::move(node),
                         rosidl_typesupport_cpp::get_message_type_support_handle<MessageT>(), topic,
                         qos, options} {}

  // Takes the oldest waiting message, without waiting for one. True: `message` and `info` are
  // written. False: see Status::nothing_taken() and failed(); a failed take may have written to
  // `message`. A message that is taken into again and again keeps the capacity of its sequences.
  [[nodiscard]] Status take(MessageT& message, MessageInfo& info) noexcept {
    return take_message(&message, info);
  }

  // Takes without a copy where can_loan_messages(), else gives RCL_RET_UNSUPPORTED. What `loan`
  // held before is given back first.
  [[nodiscard]] Status take_loaned(ReceivedLoan<MessageT>& loan, MessageInfo& info) noexcept {
    loan.give_back();
    void* message = nullptr;
    const Status status = take_loan(message, info);
    if (status) loan = {shared_from_this(), static_cast<MessageT*>(message)};
    return status;
  }
};

}  // namespace takt
