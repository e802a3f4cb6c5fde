// SPDX-License-Identifier: Apache-2.0
//
// A lifecycle node, unmodified, led through its transitions from outside.
#include <lifecycle_msgs/msg/state.hpp>
#include <lifecycle_msgs/msg/transition.hpp>
#include <lifecycle_msgs/srv/change_state.hpp>
#include <lifecycle_msgs/srv/get_state.hpp>
#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <std_msgs/msg/int32.hpp>

#include "support.hpp"

namespace takt::test {
namespace {

using lifecycle_msgs::msg::State;
using lifecycle_msgs::msg::Transition;
using lifecycle_msgs::srv::ChangeState;
using lifecycle_msgs::srv::GetState;
using std_msgs::msg::Int32;

class Camera : public rclcpp_lifecycle::LifecycleNode {
 public:
  using Done = rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface::CallbackReturn;
  using From = rclcpp_lifecycle::State;

  Camera() : LifecycleNode{"camera"} {}

  Done on_configure(const From& /*from*/) override {
    images_ = create_publisher<Int32>(unique("images"), 10);
    return Done::SUCCESS;
  }
  Done on_activate(const From& from) override {
    LifecycleNode::on_activate(from);
    timer_ = create_wall_timer(2ms, [this] { images_->publish(Int32{}); });
    return Done::SUCCESS;
  }
  Done on_deactivate(const From& from) override {
    timer_.reset();
    LifecycleNode::on_deactivate(from);
    return Done::SUCCESS;
  }
  Done on_cleanup(const From& /*from*/) override {
    images_.reset();
    return Done::SUCCESS;
  }
  Done on_shutdown(const From& /*from*/) override { return Done::SUCCESS; }

 private:
  rclcpp_lifecycle::LifecyclePublisher<Int32>::SharedPtr images_;
  rclcpp::TimerBase::SharedPtr timer_;
};

class Lifecycle : public WithContext {
 protected:
  void change(std::uint8_t transition, std::uint8_t expected) {
    // What is sent before they are found is lost.
    ASSERT_TRUE(changes_->wait_for_service(150s));
    ASSERT_TRUE(states_->wait_for_service(150s));
    auto request = std::make_shared<ChangeState::Request>();
    request->transition.id = transition;
    auto changed = changes_->async_send_request(request);
    ASSERT_EQ(rclcpp::spin_until_future_complete(operator_, changed, 150s),
              rclcpp::FutureReturnCode::SUCCESS);
    EXPECT_TRUE(changed.get()->success);
    auto state = states_->async_send_request(std::make_shared<GetState::Request>());
    ASSERT_EQ(rclcpp::spin_until_future_complete(operator_, state, 150s),
              rclcpp::FutureReturnCode::SUCCESS);
    EXPECT_EQ(state.get()->current_state.id, expected);
  }
  void SetUp() override {
    WithContext::SetUp();
    operator_ = std::make_shared<rclcpp::Node>("operator");
    changes_ = operator_->create_client<ChangeState>("/camera/change_state");
    states_ = operator_->create_client<GetState>("/camera/get_state");
  }
  void TearDown() override {
    changes_.reset();
    states_.reset();
    operator_.reset();
    WithContext::TearDown();
  }

 private:
  rclcpp::Node::SharedPtr operator_;
  rclcpp::Client<ChangeState>::SharedPtr changes_;
  rclcpp::Client<GetState>::SharedPtr states_;
};

TEST_F(Lifecycle, aNodeGoesThroughItsTransitions) {
  const auto camera = std::make_shared<Camera>();
  const auto viewer = std::make_shared<rclcpp::Node>("viewer");
  std::atomic<int> received{0};
  const auto images =
      viewer->create_subscription<Int32>(unique("images"), 10, [&](const Int32&) { ++received; });
  SchedulingExecutor executor{quiet()};
  executor.add_node(camera->get_node_base_interface());
  executor.add_node(viewer);
  Spinning spinning{executor};
  for (int round = 0; round < 3; ++round) {
    change(Transition::TRANSITION_CONFIGURE, State::PRIMARY_STATE_INACTIVE);
    const int before = received;
    change(Transition::TRANSITION_ACTIVATE, State::PRIMARY_STATE_ACTIVE);
    EXPECT_TRUE(eventually([&] { return received > before + 5; }));
    change(Transition::TRANSITION_DEACTIVATE, State::PRIMARY_STATE_INACTIVE);
    change(Transition::TRANSITION_CLEANUP, State::PRIMARY_STATE_UNCONFIGURED);
  }
  change(Transition::TRANSITION_UNCONFIGURED_SHUTDOWN, State::PRIMARY_STATE_FINALIZED);
  spinning.end();
}

}  // namespace
}  // namespace takt::test
