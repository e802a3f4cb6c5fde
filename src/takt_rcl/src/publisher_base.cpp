// SPDX-License-Identifier: Apache-2.0
#include <rmw/rmw.h>

#include <chrono>
#include <mutex>
#include <string_view>
#include <takt/rcl/publication_scope.hpp>
#include <takt/rcl/publisher_base.hpp>
#include <utility>

#include "incompatible_qos.hpp"
#include "matched_readers.hpp"
#include "node_handle.hpp"
#include "rcl_error.hpp"

namespace takt {

namespace {

// Whether a subscription that ignores local publications counts as connected. Fast DDS matches it
// and drops the messages at the take; others do not match it. For one that is not known, no is the
// safe answer: the middleware then gets messages that nobody needs.
bool counts_ignoring_subscriptions() noexcept {
  static const bool counts =
      std::string_view{rmw_get_implementation_identifier()}.starts_with("rmw_fastrtps");
  return counts;
}

}  // namespace

PublisherBase::PublisherBase(std::shared_ptr<detail::NodeHandle> node,
                             const rosidl_message_type_support_t* type_support,
                             const std::string& topic, const QoS& qos)
    : node_{std::move(node)},
      reliable_{qos.reliability() != RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT},
      keeps_for_late_readers_{qos.durability() != RMW_QOS_POLICY_DURABILITY_VOLATILE},
      type_support_{type_support},
      publisher_{rcl_get_zero_initialized_publisher()} {
  rcl_publisher_options_t options = rcl_publisher_get_default_options();
  options.qos = qos.get_rmw_qos_profile();
  const std::scoped_lock lock{node_->mutex};
  const rcl_ret_t code =
      rcl_publisher_init(&publisher_, &node_->node, type_support_, topic.c_str(), &options);
  if (code != RCL_RET_OK) {
    detail::throw_rcl_error(code, "cannot create a publisher", node_->describe_topic(topic));
  }
  matched_ = std::make_unique<detail::MatchedReaders>(publisher_);
  incompatible_ =
      std::make_unique<detail::IncompatibleQos>(publisher_, node_->describe_topic(topic));
}

PublisherBase::~PublisherBase() {
  const std::scoped_lock lock{node_->mutex};
  incompatible_.reset();
  matched_.reset();
  detail::log_failure(rcl_publisher_fini(&publisher_, &node_->node), "cannot close a publisher");
}

std::size_t PublisherBase::get_subscription_count() const noexcept {
  return matched_->count_anew().value_or(0);
}

bool PublisherBase::can_loan_messages() const noexcept {
  return rcl_publisher_can_loan_messages(&publisher_);
}

Status PublisherBase::wait_for_all_acked(std::chrono::nanoseconds timeout) const noexcept {
  return detail::to_status(rcl_publisher_wait_for_all_acked(&publisher_, timeout.count()));
}

std::string PublisherBase::get_topic_name() const {
  const char* name = rcl_publisher_get_topic_name(&publisher_);
  return name != nullptr ? name : "";
}

QoS PublisherBase::get_actual_qos() const {
  const rmw_qos_profile_t* profile = rcl_publisher_get_actual_qos(&publisher_);
  if (profile == nullptr) {
    detail::throw_rcl_error(RCL_RET_ERROR, "cannot read the QoS of a publisher",
                            node_->describe_topic(get_topic_name()));
  }
  return QoS{*profile};
}

Status PublisherBase::publish_message(const void* message) noexcept {
  return counted(detail::to_status(rcl_publish(&publisher_, message, nullptr)));
}

Status PublisherBase::publish_loan(void* message) noexcept {
  return counted(detail::to_status(rcl_publish_loaned_message(&publisher_, message, nullptr)));
}

Status PublisherBase::counted(Status status) const noexcept {
  if (status) {
    detail::PublicationScope::count(*this);
  }
  return status;
}

Status PublisherBase::borrow_loan(void*& message) noexcept {
  return detail::to_status(rcl_borrow_loaned_message(&publisher_, type_support_, &message));
}

bool PublisherBase::is_valid() const noexcept {
  return rcl_context_is_valid(&node_->context->context);
}

std::uint32_t PublisherBase::changes_of_readers() const noexcept {
  return matched_->changes();
}

bool PublisherBase::needs_middleware(std::size_t local, std::uint32_t changes) const noexcept {
  if (keeps_for_late_readers_) {
    return true;
  }
  const auto connected = matched_->count();
  // After a change, `local` may count one that is no longer among the connected.
  return !connected || matched_->changes() != changes ||
         *connected > (counts_ignoring_subscriptions() ? local : 0);
}

MessageInfo PublisherBase::next_info() noexcept {
  const MessageInfo::Stamp now =
      std::chrono::time_point_cast<MessageInfo::Stamp::duration>(std::chrono::system_clock::now());
  return {.source_timestamp = now,
          .received_timestamp = now,
          .publication_sequence_number = handed_over_.fetch_add(1, std::memory_order_relaxed),
          .from_intra_process = true};
}

void PublisherBase::return_loan(void* message) noexcept {
  // Not through rcl, which refuses it after shutdown: the middleware could never close the
  // publisher.
  const rmw_publisher_t* publisher = rcl_publisher_get_rmw_handle(&publisher_);
  detail::log_failure(rmw_return_loaned_message_from_publisher(publisher, message),
                      "cannot return a loaned message");
}

}  // namespace takt
