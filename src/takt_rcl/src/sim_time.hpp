// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rcl/arguments.h>

#include <string>

namespace takt::detail {

// Whether the arguments set the parameter use_sim_time of this node (its full name). Throws
// RclError.
[[nodiscard]] bool is_sim_time_asked_for(const rcl_arguments_t& arguments,
                                         const std::string& node_name);

}  // namespace takt::detail
