// SPDX-License-Identifier: Apache-2.0
/// @file
/// PublisherBase: the part of a publisher that does not depend on the type of its messages.
#pragma once

#include <rcl/publisher.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <takt/rcl/message_info.hpp>
#include <takt/rcl/qos.hpp>
#include <takt/rcl/status.hpp>
#include <takt/rcl/visibility.hpp>

namespace takt {

namespace detail {
class IncompatibleQos;
class MatchedReaders;
struct NodeHandle;
}  // namespace detail

/// The base of all publishers. Thread-safe.
class TAKT_RCL_PUBLIC PublisherBase : public std::enable_shared_from_this<PublisherBase> {
 public:
  PublisherBase(const PublisherBase&) = delete;
  PublisherBase& operator=(const PublisherBase&) = delete;
  PublisherBase(PublisherBase&&) = delete;
  PublisherBase& operator=(PublisherBase&&) = delete;

  /// Matched subscriptions of all processes, including this context; 0 also if the middleware
  /// cannot tell.
  [[nodiscard]] std::size_t get_subscription_count() const noexcept;

  /// Whether the middleware lends memory for this message type (types of fixed size).
  [[nodiscard]] bool can_loan_messages() const noexcept;

  /// Blocks until every reliable subscription has acknowledged all messages, at most for `timeout`
  /// (negative: without limit). Not for real-time loops.
  [[nodiscard]] Status wait_for_all_acked(std::chrono::nanoseconds timeout) const noexcept;

  /// The full name, after expansion and remapping.
  [[nodiscard]] std::string get_topic_name() const;

  /// The QoS that the middleware granted.
  /// @throws RclError if it cannot tell.
  [[nodiscard]] QoS get_actual_qos() const;

 protected:
  PublisherBase(std::shared_ptr<detail::NodeHandle> node,
                const rosidl_message_type_support_t* type_support, const std::string& topic,
                const QoS& qos);
  ~PublisherBase();

  [[nodiscard]] Status publish_message(const void* message) noexcept;
  [[nodiscard]] Status publish_loan(void* message) noexcept;
  [[nodiscard]] Status borrow_loan(void*& message) noexcept;

  // False after shutdown.
  [[nodiscard]] bool is_valid() const noexcept;
  // Grows when readers come and go.
  [[nodiscard]] std::uint32_t changes_of_readers() const noexcept;
  // Whether any reader needs the middleware, given that `local` readers of this context get
  // messages by pointer, which were counted after so many `changes`. True in doubt.
  [[nodiscard]] bool needs_middleware(std::size_t local, std::uint32_t changes) const noexcept;
  [[nodiscard]] bool is_reliable() const noexcept { return reliable_; }
  // For a message that is now handed over by pointer.
  [[nodiscard]] MessageInfo next_info() noexcept;

  std::shared_ptr<detail::NodeHandle> node_;

 private:
  template <class>
  friend class LoanedMessage;
  void return_loan(void* message) noexcept;
  [[nodiscard]] Status counted(Status status) const noexcept;

  bool reliable_{true};
  bool keeps_for_late_readers_{false};
  std::atomic<std::uint64_t> handed_over_{0};
  const rosidl_message_type_support_t* type_support_;
  rcl_publisher_t publisher_;
  std::unique_ptr<detail::MatchedReaders> matched_;
  std::unique_ptr<detail::IncompatibleQos> incompatible_;
};

}  // namespace takt
