// SPDX-License-Identifier: Apache-2.0
//
// A node as anybody writes it: it knows nothing of Takt.
#pragma once

#include <chrono>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/header.hpp>
#include <utility>

namespace docking {

using namespace std::chrono_literals;
using std_msgs::msg::Header;

class Radar : public rclcpp::Node {
 public:
  explicit Radar(const rclcpp::NodeOptions& options = rclcpp::NodeOptions{})
      : Node{"radar", options} {
    scans_ = create_publisher<Header>("scan", 1);
    timer_ = create_wall_timer(10ms, [this] {
      auto scan = std::make_unique<Header>();
      scan->stamp = now();
      scans_->publish(std::move(scan));
    });
  }

 private:
  rclcpp::Publisher<Header>::SharedPtr scans_;
  rclcpp::TimerBase::SharedPtr timer_;
};

}  // namespace docking
