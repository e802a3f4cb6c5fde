// SPDX-License-Identifier: Apache-2.0
//
// The program of Krukiewicz-Gacek 2021, Appendix A: node4 produces, node3 uses the newest data. The
// special scenario begins after a second.
#include "two_scenarios.hpp"

#include <chrono>
#include <memory>
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/header.hpp>
#include <takt/rclcpp/scheduling_executor.hpp>
#include <utility>

namespace {

using namespace std::chrono_literals;
using std_msgs::msg::Header;

class Node3 : public rclcpp::Node {
 public:
  Node3() : Node{"node3"} {
    newest_ = create_subscription<Header>(
        "topic1", 1, [this](Header::ConstSharedPtr data) { data_ = std::move(data); });
    timer_ = create_wall_timer(50ms, [this] { used_ += data_ != nullptr ? 1 : 0; });
  }

 private:
  rclcpp::Subscription<Header>::SharedPtr newest_;
  rclcpp::TimerBase::SharedPtr timer_;
  Header::ConstSharedPtr data_;
  int used_ = 0;
};

class Node4 : public rclcpp::Node {
 public:
  Node4() : Node{"node4"} {
    publisher_ = create_publisher<Header>("topic1", 1);
    timer_ = create_wall_timer(20ms, [this] { publisher_->publish(Header{}); });
  }

 private:
  rclcpp::Publisher<Header>::SharedPtr publisher_;
  rclcpp::TimerBase::SharedPtr timer_;
};

}  // namespace

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  const auto node3 = std::make_shared<Node3>();
  const auto node4 = std::make_shared<Node4>();
  takt_rclcpp::SchedulingExecutor executor;
  executor.set_scheduling_strategy(two_scenarios::strategy());
  executor.add_node(node3);
  executor.add_node(node4);
  const auto special = node3->create_wall_timer(
      1s, [&executor] { static_cast<void>(executor.switch_to("special_scenario")); });
  executor.spin();
  rclcpp::shutdown();
}
