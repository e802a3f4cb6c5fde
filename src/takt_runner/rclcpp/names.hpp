// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace takt::runner {

// Before the name of the executor.
inline constexpr const char* approach_prefix = "rclcpp_";

}  // namespace takt::runner
