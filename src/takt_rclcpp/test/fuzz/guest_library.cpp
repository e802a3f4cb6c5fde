// SPDX-License-Identifier: Apache-2.0
#include "guest_library.hpp"

#include <chrono>
#include <exception>
#include <rcl_interfaces/srv/list_parameters.hpp>
#include <std_msgs/msg/int32.hpp>
#include <vector>

namespace {

using rcl_interfaces::srv::ListParameters;
using std::chrono_literals::operator""ms;
using std_msgs::msg::Int32;

class Guest : public rclcpp::Node {
 public:
  Guest(const char* name, const rclcpp::NodeOptions& options) : Node{name, options} {
    out_ = create_publisher<Int32>("from_library", 3);
    in_ = create_subscription<Int32>("from_library", 3,
                                     [this](Int32::UniquePtr message) { sum_ += message->data; });
    timer_ = create_wall_timer(2ms, [this] {
      auto message = std::make_unique<Int32>();
      message->data = 1;
      out_->publish(std::move(message));
    });
    service_ = create_service<ListParameters>(
        "from_library", [this](const ListParameters::Request::SharedPtr,
                               const ListParameters::Response::SharedPtr) { ++sum_; });
    client_ = create_client<ListParameters>("from_library");
    asks_ = create_wall_timer(3ms, [this] {
      client_->async_send_request(std::make_shared<ListParameters::Request>(),
                                  [this](rclcpp::Client<ListParameters>::SharedFuture) { ++sum_; });
    });
    parameters_ = add_on_set_parameters_callback([](const std::vector<rclcpp::Parameter>&) {
      return rcl_interfaces::msg::SetParametersResult{}.set__successful(true);
    });
  }

 private:
  int sum_ = 0;  // all in one group
  rclcpp::Publisher<Int32>::SharedPtr out_;
  rclcpp::Subscription<Int32>::SharedPtr in_;
  rclcpp::TimerBase::SharedPtr timer_;
  rclcpp::Service<ListParameters>::SharedPtr service_;
  rclcpp::Client<ListParameters>::SharedPtr client_;
  rclcpp::TimerBase::SharedPtr asks_;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr parameters_;
};

}  // namespace

rclcpp::Node* make_guest(const rclcpp::NodeOptions* options, const char* name) {
  try {
    return new Guest{name, *options};
  } catch (const std::exception&) {
    return nullptr;
  }
}

void delete_guest(rclcpp::Node* guest) {
  delete guest;
}
