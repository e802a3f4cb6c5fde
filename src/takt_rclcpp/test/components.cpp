// SPDX-License-Identifier: Apache-2.0
//
// A component that tells when its callback runs on while the node is destroyed; and one that cannot
// be made.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/register_node_macro.hpp>
#include <stdexcept>
#include <utility>

namespace components {

using namespace std::chrono_literals;

class Busy : public rclcpp::Node {
 public:
  explicit Busy(const rclcpp::NodeOptions& options) : Node{"busy", options} {
    timer_ = create_wall_timer(1ms, [this] {
      running_ = true;
      const auto end = std::chrono::steady_clock::now() + 30ms;
      while (std::chrono::steady_clock::now() < end) {
      }
      running_ = false;
    });
  }
  ~Busy() override { std::puts(running_ ? "destroyed while it runs" : "destroyed in peace"); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  Busy(Busy&&) = delete;
  Busy& operator=(Busy&&) = delete;

 private:
  std::atomic<bool> running_{false};
  rclcpp::TimerBase::SharedPtr timer_;
};

class Plain : public rclcpp::Node {
 public:
  explicit Plain(const rclcpp::NodeOptions& options) : Node{"plain", options} {
    timer_ = create_wall_timer(100ms, [this] {
      if (!std::exchange(has_reported_, true)) {
        std::printf("%s runs\n", get_name());
        std::fflush(stdout);
      }
    });
  }

 private:
  bool has_reported_ = false;
  rclcpp::TimerBase::SharedPtr timer_;
};

class Broken : public rclcpp::Node {
 public:
  explicit Broken(const rclcpp::NodeOptions& options) : Node{"broken", options} {
    throw std::runtime_error{"no such camera"};
  }
};

}  // namespace components

RCLCPP_COMPONENTS_REGISTER_NODE(components::Busy)
RCLCPP_COMPONENTS_REGISTER_NODE(components::Plain)
RCLCPP_COMPONENTS_REGISTER_NODE(components::Broken)
