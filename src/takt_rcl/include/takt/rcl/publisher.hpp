// SPDX-License-Identifier: Apache-2.0
//
// Publisher: sends messages of one type to one topic. Made by Node::create_publisher.
#pragma once

#include <memory>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <string>
#include <takt/rcl/loaned_message.hpp>
#include <takt/rcl/publisher_base.hpp>
#include <utility>

namespace takt {

// Several threads may publish through one publisher at once, each its own message. publish() may
// block: with reliable QoS while the history is full of unacknowledged messages, and always while
// on-new-message callbacks of subscriptions in this process run, which it calls on this thread.
template <class MessageT>
class Publisher final : public PublisherBase {
 public:
  // Through Node::create_publisher. Throws RclError.
  Publisher(std::shared_ptr<detail::NodeHandle> node, const std::string& topic, const QoS& qos)
      : PublisherBase{std::move(node),
                      rosidl_typesupport_cpp::get_message_type_support_handle<MessageT>(), topic,
                      qos} {}

  // The message was handed to the middleware when the status is true; it may be changed afterwards.
  Status publish(const MessageT& message) noexcept { return publish_message(&message); }

  // Consumes the message, published or not. A null pointer gives RCL_RET_INVALID_ARGUMENT.
  Status publish(std::unique_ptr<MessageT> message) noexcept {
    return publish_message(message.get());
  }

  // An invalid message (is_valid() false, the reason in last_error()) when the middleware does not
  // lend this type (can_loan_messages() false) or has no memory left to lend.
  [[nodiscard]] LoanedMessage<MessageT> borrow_loaned_message() noexcept {
    void* message = nullptr;
    if (!borrow_loan(message)) return {};
    return {shared_from_this(), static_cast<MessageT*>(message)};
  }

  // Publishes in place. The loan is consumed, published or not. An invalid loan, or one of another
  // publisher, gives RCL_RET_INVALID_ARGUMENT.
  Status publish(LoanedMessage<MessageT>&& loan) noexcept {
    LoanedMessage<MessageT> mine = std::move(loan);
    if (!mine.is_valid() || !mine.belongs_to(*this)) return publish_loan(nullptr);
    const Status status = publish_loan(&mine.get());
    if (status) static_cast<void>(mine.release());  // the middleware owns it now
    return status;
  }
};

}  // namespace takt
