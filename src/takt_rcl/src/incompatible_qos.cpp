// SPDX-License-Identifier: Apache-2.0
#include "incompatible_qos.hpp"

#include <rcl/error_handling.h>
#include <rcutils/logging_macros.h>

#include <takt/rcl/qos.hpp>

#include "rcl_error.hpp"

namespace takt::detail {
namespace {

std::string describe(const rmw_qos_profile_t* profile) {
  if (profile == nullptr) {
    return "QoS unknown";
  }
  const bool reliable = profile->reliability == RMW_QOS_POLICY_RELIABILITY_RELIABLE;
  const bool late = profile->durability == RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL;
  return std::string{reliable ? "reliable" : "best effort"} +
         (late ? ", transient local" : ", volatile");
}

}  // namespace

IncompatibleQos::IncompatibleQos(const rcl_publisher_t& publisher, const std::string& where)
    : warning_{where + ": a subscription asks for more than this publisher gives (" +
               describe(rcl_publisher_get_actual_qos(&publisher)) +
               ") and gets none of its messages; give both the same QoS"},
      event_{rcl_get_zero_initialized_event()} {
  listen(rcl_publisher_event_init(&event_, &publisher, RCL_PUBLISHER_OFFERED_INCOMPATIBLE_QOS) ==
         RCL_RET_OK);
}

IncompatibleQos::IncompatibleQos(const rcl_subscription_t& subscription, const std::string& where)
    : warning_{where + ": a publisher gives less than this subscription asks for (" +
               describe(rcl_subscription_get_actual_qos(&subscription)) +
               ") and none of its messages arrives; give both the same QoS"},
      event_{rcl_get_zero_initialized_event()} {
  listen(rcl_subscription_event_init(&event_, &subscription,
                                     RCL_SUBSCRIPTION_REQUESTED_INCOMPATIBLE_QOS) == RCL_RET_OK);
}

void IncompatibleQos::listen(bool has_event) noexcept {
  // The event is not taken, which the middleware's lock forbids here: the policy stays unnamed.
  const auto found = [](const void* self, std::size_t) noexcept {
    static_cast<const IncompatibleQos*>(self)->warn();
  };
  notified_ = has_event && rcl_event_set_callback(&event_, found, this) == RCL_RET_OK;
  if (!notified_) {
    rcl_reset_error();
  }
}

// NOLINTNEXTLINE(readability-function-cognitive-complexity): of the macro
void IncompatibleQos::warn() const noexcept {
  RCUTILS_LOG_WARN_NAMED("takt_rcl", "%s", warning_.c_str());
}

IncompatibleQos::~IncompatibleQos() {
  if (notified_) {
    log_failure(rcl_event_set_callback(&event_, nullptr, nullptr), "cannot clear a callback");
  }
  log_failure(rcl_event_fini(&event_), "cannot close an event");
}

}  // namespace takt::detail
