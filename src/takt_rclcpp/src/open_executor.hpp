// SPDX-License-Identifier: Apache-2.0
//
// What rclcpp's executor can do with an entity and keeps to executors.
#pragma once

#include <rclcpp/executor.hpp>

namespace takt_rclcpp {

class OpenExecutor : public rclcpp::Executor {
 public:
  OpenExecutor() = delete;
  using rclcpp::Executor::execute_client;
  using rclcpp::Executor::execute_service;
  using rclcpp::Executor::execute_subscription;
  using rclcpp::Executor::execute_timer;
};

}  // namespace takt_rclcpp
