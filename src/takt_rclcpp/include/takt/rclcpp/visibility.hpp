// SPDX-License-Identifier: Apache-2.0
//
// What the library takt_rclcpp shows to others; all else in it is hidden, as in
// takt/visibility.hpp.
#pragma once

#define TAKT_RCLCPP_PUBLIC __attribute__((visibility("default")))
// Of a public class, what only the library itself calls.
#define TAKT_RCLCPP_LOCAL __attribute__((visibility("hidden")))
