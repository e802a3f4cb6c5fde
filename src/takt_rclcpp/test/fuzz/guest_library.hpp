// SPDX-License-Identifier: Apache-2.0
//
// What a library of a node gives: as a component's, but it can be unloaded at once.
#pragma once

#include <rclcpp/rclcpp.hpp>

extern "C" {
// A node with a callback of each kind; null where it cannot be made. `delete`d by its library.
rclcpp::Node* make_guest(const rclcpp::NodeOptions* options, const char* name);
void delete_guest(rclcpp::Node* guest);
}
