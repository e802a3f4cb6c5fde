// SPDX-License-Identifier: Apache-2.0
/// @file
/// SubscriptionOptions: the settings of a subscription besides its QoS.
#pragma once

#include <optional>

namespace takt {

/// The settings of a subscription.
struct SubscriptionOptions {
  /// Whether take_loaned() may return memory of the middleware. Unset: as
  /// ROS_DISABLE_LOANED_MESSAGES says; the default of rcl is no, because a reader that keeps loans
  /// can starve the publisher.
  std::optional<bool> loaned_messages{};
  /// Get messages of publishers of the same context by pointer, if ContextOptions allow it.
  /// Subscriptions that take loans or are transient_local always use the middleware, which alone
  /// supports these.
  bool use_intra_process{true};
};

}  // namespace takt
