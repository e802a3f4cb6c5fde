// SPDX-License-Identifier: Apache-2.0
//
// ContextOptions: what a Context is started with; each unset value is left to the environment.
#pragma once

#include <cstddef>
#include <optional>

namespace takt {

struct ContextOptions {
  // DDS domain; processes see each other only within one. Unset: ROS_DOMAIN_ID, else 0.
  std::optional<std::size_t> domain_id{};
  // Whether messages move by pointer, without the middleware, between publishers and subscriptions
  // of this context (see Publisher). Others get them through the middleware at the same time.
  bool use_intra_process{true};
};

}  // namespace takt
