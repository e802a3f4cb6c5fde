// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which symbols the library takt_rclcpp exports. Everything else is hidden, as in
/// takt/visibility.hpp.
///
/// @namespace takt_rclcpp Takt's executor for unmodified rclcpp nodes, and the timing of their
/// callbacks.
#pragma once

/// Exports a class or function from takt_rclcpp.
#define TAKT_RCLCPP_PUBLIC __attribute__((visibility("default")))

/// Hides a member of an exported class that only the library itself calls.
#define TAKT_RCLCPP_LOCAL __attribute__((visibility("hidden")))
