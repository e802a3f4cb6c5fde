// SPDX-License-Identifier: Apache-2.0
/// @file
/// ContextOptions: the settings of a Context; unset values are taken from the environment.
#pragma once

#include <cstddef>
#include <optional>

namespace takt {

/// The settings of a Context.
struct ContextOptions {
  /// DDS domain; processes communicate only within one. Unset: ROS_DOMAIN_ID, else 0.
  std::optional<std::size_t> domain_id{};
  /// Pass messages by pointer, without the middleware, between publishers and subscriptions of this
  /// context (see Publisher). Other subscriptions get them through the middleware at the same time.
  bool use_intra_process{true};
};

}  // namespace takt
