// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <takt/rcl/notice.hpp>
#include <takt/rcl/subscription_base.hpp>
#include <utility>

#include "incompatible_qos.hpp"
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

}  // namespace

SubscriptionBase::SubscriptionBase(std::shared_ptr<detail::NodeHandle> node,
                                   const rosidl_message_type_support_t* type_support,
                                   const std::string& topic, const QoS& qos,
                                   const SubscriptionOptions& options)
    : node_{std::move(node)},
      subscription_{rcl_get_zero_initialized_subscription()},
      notice_{std::make_unique<detail::Notice>(qos.depth())} {
  rcl_subscription_options_t rcl_options = rcl_subscription_get_default_options();
  rcl_options.qos = qos.get_rmw_qos_profile();
  if (options.loaned_messages) {
    rcl_options.disable_loaned_message = !*options.loaned_messages;
  }
  uses_intra_process_ = node_->context->use_intra_process && options.use_intra_process &&
                        rcl_options.disable_loaned_message &&
                        qos.durability() != RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL;
  // They come by pointer.
  rcl_options.rmw_subscription_options.ignore_local_publications = uses_intra_process_;
  {
    const std::scoped_lock lock{node_->mutex};
    const rcl_ret_t code = rcl_subscription_init(&subscription_, &node_->node, type_support,
                                                 topic.c_str(), &rcl_options);
    if (code != RCL_RET_OK) {
      detail::throw_rcl_error(code, "cannot create a subscription", node_->describe_topic(topic));
    }
    incompatible_ =
        std::make_unique<detail::IncompatibleQos>(subscription_, node_->describe_topic(topic));
  }
  name_ = node_->name_of_topic(get_topic_name());
}

SubscriptionBase::~SubscriptionBase() {
  node_->forget_subscription(name_);
  const std::scoped_lock lock{node_->mutex};
  incompatible_.reset();
  detail::log_failure(rcl_subscription_fini(&subscription_, &node_->node),
                      "cannot close a subscription");
}

void SubscriptionBase::stop_listening() noexcept {
  if (!listening_) {
    return;
  }
  detail::log_failure(
      rcl_subscription_set_on_new_message_callback(&subscription_, nullptr, nullptr),
      "cannot clear a callback");
  if (detail::Notice* const local = local_notice()) {
    local->set(nullptr);
  }
  notice_->set(nullptr);
  listening_ = false;
}

std::shared_ptr<executor::RecursivePriorityMutex> SubscriptionBase::turn() const {
  return notice_->turn();
}

void SubscriptionBase::listen(std::function<void(std::size_t)> function) {
  if (!listening_) {
    // noexcept: an exception must not travel through the C code of the middleware.
    const auto call = [](const void* notice, std::size_t count) noexcept {
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): C hands back what it was given
      static_cast<detail::Notice*>(const_cast<void*>(notice))->call(count);
    };
    const rcl_ret_t code =
        rcl_subscription_set_on_new_message_callback(&subscription_, call, notice_.get());
    if (code != RCL_RET_OK) {
      detail::throw_rcl_error(code, "cannot set the on-new-message callback",
                              node_->describe_topic(get_topic_name()));
    }
    listening_ = true;
  }
  if (detail::Notice* const local = local_notice()) {
    if (function) {
      // One function, in two places: whoever destroys it must find it used nowhere else.
      function = [shared = std::make_shared<std::function<void(std::size_t)>>(std::move(function))](
                     std::size_t count) { (*shared)(count); };
    }
    local->set(function);
  }
  notice_->set(std::move(function));
}

void SubscriptionBase::clear_on_new_message_callback() {
  refuse_while_claimed();
  if (listening_) {  // on: from inside of the function the middleware would wait for itself
    listen({});
  }
}

void SubscriptionBase::refuse_while_claimed() const {
  if (owner_.load() != nullptr) {
    throw std::logic_error{node_->describe_topic(get_topic_name()) +
                           ": an executor has this subscription and is told about its messages; "
                           "take the subscription out of the executor first"};
  }
}

void SubscriptionBase::claim(const void* owner, std::function<void(std::size_t)> function) {
  const void* present = nullptr;
  if (!owner_.compare_exchange_strong(present, owner) && present != owner) {
    throw std::logic_error{node_->describe_topic(get_topic_name()) +
                           ": another executor has this subscription; create one subscription for "
                           "each executor"};
  }
  try {
    listen(std::move(function));
  } catch (...) {
    owner_.store(present);
    throw;
  }
}

void SubscriptionBase::release(const void* owner) noexcept {
  if (owner_.load() != owner) {
    return;
  }
  stop_listening();
  owner_.store(nullptr);
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
  const std::uint64_t waiting = notice_->waiting();
  rmw_message_info_t rmw_info = rmw_get_zero_initialized_message_info();
  const Status status = detail::to_status(rcl_take(&subscription_, message, &rmw_info, nullptr));
  if (status) {
    set_info(info, rmw_info);
  }
  count_taken(status, waiting);
  return status;
}

bool SubscriptionBase::take_announced(void* message, MessageInfo& info) noexcept {
  if (listening_ && notice_->waiting() == 0) {
    return false;
  }
  return static_cast<bool>(take_message(message, info));
}

Status SubscriptionBase::take_loan(void*& message, MessageInfo& info) noexcept {
  // rcl itself takes loans also where the subscription was created without them.
  if (!can_loan_messages()) {
    return Status{RCL_RET_UNSUPPORTED};
  }
  const std::uint64_t waiting = notice_->waiting();
  rmw_message_info_t rmw_info = rmw_get_zero_initialized_message_info();
  const Status status =
      detail::to_status(rcl_take_loaned_message(&subscription_, &message, &rmw_info, nullptr));
  if (status) {
    set_info(info, rmw_info);
  }
  count_taken(status, waiting);
  return status;
}

// `waiting`: before the take. What was taken unannounced is not announced any more, and what was
// dropped after it was announced is known to be gone when a take finds nothing.
void SubscriptionBase::count_taken(const Status& status, std::uint64_t waiting) noexcept {
  if (status) {
    notice_->gone(waiting > 0 ? 1 : 0);
  } else if (status.nothing_taken()) {
    notice_->gone(waiting);
  }
}

void SubscriptionBase::return_loan(void* message) noexcept {
  detail::log_failure(rcl_return_loaned_message_from_subscription(&subscription_, message),
                      "cannot return a loaned message");
}

}  // namespace takt
