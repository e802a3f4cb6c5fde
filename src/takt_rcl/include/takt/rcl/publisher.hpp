// SPDX-License-Identifier: Apache-2.0
/// @file
/// Publisher: sends messages of one type to one topic. Created by Node::create_publisher().
///
/// Subscriptions of the same context get a message by pointer, without the middleware
/// (ContextOptions::use_intra_process); all others get it through the middleware, which is skipped
/// if there are none. A unique_ptr arrives at the same address: as a unique_ptr at a single reader
/// that takes one, otherwise as one shared_ptr<const MessageT> for all readers. A message that is
/// published by reference is copied once, into reused memory; a message from reuse_message() is in
/// such memory already and costs neither a copy nor an allocation.
#pragma once

#include <memory>
#include <rosidl_typesupport_cpp/message_type_support.hpp>
#include <string>
#include <takt/rcl/loaned_message.hpp>
#include <takt/rcl/local_channel.hpp>
#include <takt/rcl/publication_scope.hpp>
#include <takt/rcl/publisher_base.hpp>
#include <takt/rcl/sample_time.hpp>
#include <utility>

namespace takt {

/// A publisher of messages of type MessageT.
///
/// Several threads may publish at the same time, each its own message. publish() may block: with
/// reliable QoS while the history is full of unacknowledged messages, and always while it calls
/// on-new-message callbacks of subscriptions in this process on its thread.
template <class MessageT>
class Publisher final : public PublisherBase {
 public:
  /// Use Node::create_publisher().
  /// @throws RclError if the publisher cannot be created.
  Publisher(std::shared_ptr<detail::NodeHandle> node, const std::string& topic, const QoS& qos)
      : PublisherBase{std::move(node),
                      rosidl_typesupport_cpp::get_message_type_support_handle<MessageT>(), topic,
                      qos},
        channel_{detail::find_channel<MessageT>(*node_, get_topic_name())} {}

  /// Publishes a message, which may be changed afterwards.
  /// @return true if the message was handed over.
  Status publish(const MessageT& message) noexcept {
    const Readers readers = local_readers();
    const Status status = publish_remotely(readers, &message);
    if (status && readers.count > 0) {
      hand_over_copy(readers, message);
    }
    return status;
  }

  /// Publishes a message and consumes it in any case.
  /// @return RCL_RET_INVALID_ARGUMENT for a null pointer.
  Status publish(std::unique_ptr<MessageT> message) noexcept {
    if (!message) {
      return publish_message(nullptr);
    }
    const Readers readers = local_readers();
    const Status status = publish_remotely(readers, message.get());
    if (status && readers.count > 0) {
      hand_over(readers, std::move(message));
    }
    return status;
  }

  /// A message to fill and publish, with the content of an earlier one and the capacity of its
  /// sequences; only the caller may write it. Allocates while readers keep more messages than ever
  /// before.
  [[nodiscard]] std::shared_ptr<MessageT> reuse_message() {
    return channel_ == nullptr ? std::make_shared<MessageT>() : channel_->pool().get();
  }

  /// Publishes a message and consumes it in any case: from here on nobody may write to it. Readers
  /// that take unique_ptr get a copy.
  /// @return RCL_RET_INVALID_ARGUMENT for a null pointer.
  Status publish(std::shared_ptr<MessageT>&& message) noexcept {
    const std::shared_ptr<const MessageT> mine = std::move(message);
    if (!mine) {
      return publish_message(nullptr);
    }
    const Readers readers = local_readers();
    const Status status = publish_remotely(readers, mine.get());
    if (!status || readers.count == 0) {
      return status;
    }
    if (readers.owning) {
      hand_over(readers, std::make_unique<MessageT>(*mine));
    } else {
      send(readers, nullptr, mine);
    }
    return status;
  }

  /// Borrows memory from the middleware. The result is invalid (is_valid() false, the reason in
  /// last_error()) if the middleware does not lend this type (can_loan_messages() false) or has no
  /// memory left.
  [[nodiscard]] LoanedMessage<MessageT> borrow_loaned_message() noexcept {
    void* message = nullptr;
    if (!borrow_loan(message)) {
      return {};
    }
    return {shared_from_this(), static_cast<MessageT*>(message)};
  }

  /// Publishes in place, and consumes the loan in any case.
  /// @return RCL_RET_INVALID_ARGUMENT for an invalid loan, or one of another publisher.
  Status publish(LoanedMessage<MessageT>&& loan) noexcept {
    LoanedMessage<MessageT> mine = std::move(loan);
    if (!mine.is_valid() || !mine.belongs_to(*this)) {
      return publish_loan(nullptr);
    }
    const Readers readers = local_readers();
    if (readers.count > 0) {
      // Before the middleware owns it: readers of this context get a copy.
      if (!is_valid()) {
        return publish_message(&mine.get());
      }
      hand_over_copy(readers, mine.get());
      if (!needs_middleware(readers.count, readers.changes)) {
        return Status{};
      }
    }
    const Status status = publish_loan(&mine.get());
    if (status) {
      static_cast<void>(mine.release());  // the middleware owns it now
    }
    return status;
  }

 private:
  using Channel = detail::LocalChannel<MessageT>;

  struct Readers {
    std::shared_ptr<const typename Channel::Queues> queues;
    std::uint32_t changes{0};  // of all readers, before these were counted
    std::size_t count{0};      // that hear this publisher
    bool owning{false};        // one reader, and it takes unique_ptr
  };

  [[nodiscard]] Readers local_readers() const noexcept {
    Readers readers;
    if (channel_ == nullptr) {
      return readers;
    }
    readers.changes = changes_of_readers();
    readers.queues = channel_->queues();
    if (readers.queues == nullptr) {
      return readers;
    }
    for (const auto& queue : *readers.queues) {
      if (!queue->hears(is_reliable())) {
        continue;
      }
      ++readers.count;
      readers.owning = readers.count == 1 && queue->owning();
    }
    return readers;
  }

  Status publish_remotely(const Readers& readers, const void* message) noexcept {
    if (readers.count > 0 && is_valid() && !needs_middleware(readers.count, readers.changes)) {
      return Status{};
    }
    return publish_message(message);
  }

  void hand_over_copy(const Readers& readers, const MessageT& message) noexcept {
    if (readers.owning) {
      hand_over(readers, std::make_unique<MessageT>(message));
      return;
    }
    auto copy = channel_->pool().get();
    *copy = message;
    send(readers, nullptr, std::move(copy));
  }

  void hand_over(const Readers& readers, std::unique_ptr<MessageT> message) noexcept {
    if (readers.owning) {
      send(readers, std::move(message), nullptr);
    } else {
      send(readers, nullptr, channel_->share(std::move(message)));
    }
  }

  void send(const Readers& readers, std::unique_ptr<MessageT> owned,
            const std::shared_ptr<const MessageT>& shared) noexcept {
    detail::PublicationScope::count(*this);
    const MessageInfo info = next_info();
    const auto of_chain = detail::current_sample_time();
    const os::TimePoint sampled = of_chain ? *of_chain : os::now();
    for (const auto& queue : *readers.queues) {
      if (queue->hears(is_reliable())) {
        queue->push(
            {.owned = std::move(owned), .shared = shared, .info = info, .sampled = sampled});
      }
    }
    // After all queues have it: the first reader that is notified may run at once.
    for (const auto& queue : *readers.queues) {
      if (queue->hears(is_reliable())) {
        queue->notice.call(1);
      }
    }
  }

  std::shared_ptr<Channel> channel_;
};

}  // namespace takt
