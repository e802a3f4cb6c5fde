// SPDX-License-Identifier: Apache-2.0
//
// The nodes as components, for any container.
#include <rclcpp_components/register_node_macro.hpp>

#include "guard.hpp"
#include "radar.hpp"

RCLCPP_COMPONENTS_REGISTER_NODE(docking::Radar)
RCLCPP_COMPONENTS_REGISTER_NODE(docking::Guard)
