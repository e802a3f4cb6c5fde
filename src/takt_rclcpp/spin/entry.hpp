// SPDX-License-Identifier: Apache-2.0
//
// The door of the library that takes over.
#pragma once

namespace takt_rclcpp {

class Takeover;

/// The function of the opened library that returns its one object.
inline constexpr const char* entry_name = "takt_spin_takeover";
using Entry = Takeover*();

}  // namespace takt_rclcpp
