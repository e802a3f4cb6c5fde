// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <mutex>
#include <takt/rcl/subscription_base.hpp>
#include <utility>

#include "node_handle.hpp"
#include "rcl_error.hpp"

namespace takt {

namespace {

void set_info(MessageInfo& info, const rmw_message_info_t& rmw_info) noexcept {
  using std::chrono::nanoseconds;
  info.source_timestamp = MessageInfo::Stamp{nanoseconds{rmw_info.source_timestamp}};
  info.received_timestamp = MessageInfo::Stamp{nanoseconds{rmw_info.received_timestamp}};
  info.publication_sequence_number = rmw_info.publication_sequence_number;
  info.from_intra_process = rmw_info.from_intra_process;
}

// noexcept: an exception must not travel through the C code of the middleware.
void call(const void* callback, std::size_t count) noexcept {
  (*static_cast<const std::function<void(std::size_t)>*>(callback))(count);
}

}  // namespace

SubscriptionBase::SubscriptionBase(std::shared_ptr<detail::NodeHandle> node,
                                   const rosidl_message_type_support_t* type_support,
                                   const std::string& topic, const QoS& qos,
                                   const SubscriptionOptions& options)
    : node_{std::move(node)}, subscription_{rcl_get_zero_initialized_subscription()} {
  rcl_subscription_options_t rcl_options = rcl_subscription_get_default_options();
  rcl_options.qos = qos.get_rmw_qos_profile();
  if (options.loaned_messages) rcl_options.disable_loaned_message = !*options.loaned_messages;
  const std::scoped_lock lock{node_->mutex};
  const rcl_ret_t code = rcl_subscription_init(&subscription_, &node_->node, type_support,
                                               topic.c_str(), &rcl_options);
  if (code != RCL_RET_OK) {
    detail::throw_rcl_error(code, "cannot create a subscription", node_->describe_topic(topic));
  }
}

SubscriptionBase::~SubscriptionBase() {
  if (callback_) {
    detail::log_failure(
        rcl_subscription_set_on_new_message_callback(&subscription_, nullptr, nullptr),
        "cannot clear a callback");
  }
  const std::scoped_lock lock{node_->mutex};
  detail::log_failure(rcl_subscription_fini(&subscription_, &node_->node),
                      "cannot close a subscription");
}

void SubscriptionBase::install_callback(std::unique_ptr<Callback> callback) {
  const rcl_ret_t code = rcl_subscription_set_on_new_message_callback(
      &subscription_, callback ? &call : nullptr, callback.get());
  if (code != RCL_RET_OK) {
    detail::throw_rcl_error(code, "cannot set the on-new-message callback",
                            node_->describe_topic(get_topic_name()));
  }
  // The middleware calls and replaces the callback under one lock, so the old one has ended.
  callback_ = std::move(callback);
}

void SubscriptionBase::clear_on_new_message_callback() {
  install_callback(nullptr);
}

std::size_t SubscriptionBase::get_publisher_count() const noexcept {
  std::size_t count = 0;
  return detail::to_status(rcl_subscription_get_publisher_count(&subscription_, &count)) ? count
                                                                                         : 0;
}

bool SubscriptionBase::can_loan_messages() const noexcept {
  return rcl_subscription_can_loan_messages(&subscription_);
}

std::string SubscriptionBase::get_topic_name() const {
  const char* name = rcl_subscription_get_topic_name(&subscription_);
  return name != nullptr ? name : "";
}

QoS SubscriptionBase::get_actual_qos() const {
  const rmw_qos_profile_t* profile = rcl_subscription_get_actual_qos(&subscription_);
  if (profile == nullptr) {
    detail::throw_rcl_error(RCL_RET_ERROR, "cannot read the QoS of a subscription",
                            node_->describe_topic(get_topic_name()));
  }
  return QoS{*profile};
}

Status SubscriptionBase::take_message(void* message, MessageInfo& info) noexcept {
  rmw_message_info_t rmw_info = rmw_get_zero_initialized_message_info();
  const Status status = detail::to_status(rcl_take(&subscription_, message, &rmw_info, nullptr));
  if (status) set_info(info, rmw_info);
  return status;
}

Status SubscriptionBase::take_loan(void*& message, MessageInfo& info) noexcept {
  // rcl itself takes loans also where the subscription was created without them.
  if (!can_loan_messages()) return Status{RCL_RET_UNSUPPORTED};
  rmw_message_info_t rmw_info = rmw_get_zero_initialized_message_info();
  const Status status =
      detail::to_status(rcl_take_loaned_message(&subscription_, &message, &rmw_info, nullptr));
  if (status) set_info(info, rmw_info);
  return status;
}

void SubscriptionBase::return_loan(void* message) noexcept {
  detail::log_failure(rcl_return_loaned_message_from_subscription(&subscription_, message),
                      "cannot return a loaned message");
}

}  // namespace takt
