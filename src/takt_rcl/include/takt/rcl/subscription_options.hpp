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
};

}  // namespace takt
