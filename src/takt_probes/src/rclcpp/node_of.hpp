// SPDX-License-Identifier: Apache-2.0
//
// A plain node with all that nodes have; of its own name in each process and role.
#pragma once

#include <unistd.h>

#include <memory>
#include <rclcpp/node.hpp>
#include <string>

#include "takt/probe/options.hpp"

namespace takt::probe {

inline rclcpp::Node::SharedPtr node_of(Role role, bool by_pointer = false) {
  const std::string name = "probe_" + std::string{name_of(role)} + "_" + std::to_string(getpid());
  return std::make_shared<rclcpp::Node>(name,
                                        rclcpp::NodeOptions{}.use_intra_process_comms(by_pointer));
}

}  // namespace takt::probe
