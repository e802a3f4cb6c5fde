// SPDX-License-Identifier: Apache-2.0
//
// A node as anybody writes it: it brakes every 20 ms by the newest scan, and counts how often it
// had none that was newer than the one before.
#pragma once

#include <chrono>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/header.hpp>
#include <utility>

namespace docking {

using namespace std::chrono_literals;
using std_msgs::msg::Header;

class Guard : public rclcpp::Node {
 public:
  explicit Guard(const rclcpp::NodeOptions& options = rclcpp::NodeOptions{})
      : Node{"guard", options} {
    scans_ = create_subscription<Header>(
        "scan", 1, [this](Header::ConstSharedPtr scan) { newest_ = std::move(scan); });
    timer_ = create_wall_timer(20ms, [this] { brake(); });
  }

 private:
  void brake() {
    ++brakes_;
    blind_ += newest_ == nullptr || newest_ == used_ ? 1 : 0;
    used_ = newest_;
    if (brakes_ % 50 == 0) {
      RCLCPP_INFO(get_logger(), "braked %d times, %d of them without a new scan", brakes_, blind_);
    }
  }

  rclcpp::Subscription<Header>::SharedPtr scans_;
  rclcpp::TimerBase::SharedPtr timer_;
  Header::ConstSharedPtr newest_;
  Header::ConstSharedPtr used_;
  int brakes_ = 0;
  int blind_ = 0;
};

}  // namespace docking
