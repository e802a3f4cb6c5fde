// SPDX-License-Identifier: Apache-2.0
#include "takt/rclcpp/timing.hpp"

#include <utility>

namespace takt_rclcpp {

std::string_view to_text(CallbackKind kind) noexcept {
  switch (kind) {
    case CallbackKind::timer:
      return "timer";
    case CallbackKind::subscription:
      return "subscription";
    case CallbackKind::intra_process:
      return "intra_process";
    case CallbackKind::service:
      return "service";
    case CallbackKind::client:
      return "client";
    case CallbackKind::qos_event:
      return "qos_event";
    case CallbackKind::waitable:
      return "waitable";
    case CallbackKind::housekeeping:
      return "housekeeping";
  }
  return "callback";
}

std::string CallbackId::text() const {
  const std::string owner = node.starts_with('/') ? node.substr(1) : node;
  std::string text = owner + (owner.empty() ? "" : ".") + std::string{to_text(kind)};
  if (topic_or_service.empty()) {
    return text + std::to_string(ordinal);
  }
  text += ":" + topic_or_service;
  return ordinal == 0 ? text : text + "#" + std::to_string(ordinal);
}

bool Timing::is_default() const {
  return priority == 0 && deadline.count() == 0 && period.count() == 0 && reads.empty() &&
         cpu == -1 && expected_execution.count() == 0 && budget.count() == 0 && !overrun && !waits;
}

}  // namespace takt_rclcpp
