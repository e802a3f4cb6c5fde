// SPDX-License-Identifier: Apache-2.0
//
// SubscriptionOptions: what a subscription is created with besides its QoS.
#pragma once

#include <optional>

namespace takt {

struct SubscriptionOptions {
  // Whether take_loaned() may hand out memory of the middleware. Unset: as
  // ROS_DISABLE_LOANED_MESSAGES says; rcl's default is no, because a reader that holds loans can
  // starve the publisher.
  std::optional<bool> loaned_messages{};
  // Whether publishers of the same context hand their messages over by pointer, where
  // ContextOptions allow it. Subscriptions that take loans or are transient_local always get theirs
  // from the middleware, which has what they ask for.
  bool use_intra_process{true};
};

}  // namespace takt
