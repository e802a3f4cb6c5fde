// SPDX-License-Identifier: Apache-2.0
//
// Lifecycle nodes whose transitions come from threads and through their services, while they and
// what their states own come and go.
#include <lifecycle_msgs/msg/transition.hpp>
#include <lifecycle_msgs/srv/change_state.hpp>
#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <std_msgs/msg/int32.hpp>

#include "fuzz.hpp"

namespace takt::fuzz {
namespace {

using lifecycle_msgs::msg::Transition;
using lifecycle_msgs::srv::ChangeState;
using std_msgs::msg::Int32;

class Camera : public rclcpp_lifecycle::LifecycleNode {
 public:
  using Done = rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface::CallbackReturn;
  using From = rclcpp_lifecycle::State;

  Camera(const rclcpp::Context::SharedPtr& context, const Token::Count& tokens)
      : LifecycleNode{"camera",
                      rclcpp::NodeOptions{}.context(context).use_intra_process_comms(true)},
        tokens_{tokens} {}

  Done on_configure(const From& /*from*/) override {
    images_ = create_publisher<Int32>("images", 5);
    triggers_ = create_subscription<Int32>("images", 5,
                                           [token = tokens_.make()](const Int32&) { token.use(); });
    return Done::SUCCESS;
  }
  Done on_activate(const From& from) override {
    LifecycleNode::on_activate(from);
    timer_ = create_wall_timer(2ms, [token = tokens_.make(), images = images_] {
      token.use();
      images->publish(Int32{});
    });
    return Done::SUCCESS;
  }
  Done on_deactivate(const From& from) override {
    timer_.reset();
    LifecycleNode::on_deactivate(from);
    return Done::SUCCESS;
  }
  Done on_cleanup(const From& /*from*/) override {
    triggers_.reset();
    images_.reset();
    return Done::SUCCESS;
  }
  Done on_shutdown(const From& /*from*/) override { return Done::SUCCESS; }

 private:
  const Token::Count& tokens_;
  rclcpp_lifecycle::LifecyclePublisher<Int32>::SharedPtr images_;
  rclcpp::Subscription<Int32>::SharedPtr triggers_;
  rclcpp::TimerBase::SharedPtr timer_;
};

constexpr std::array<std::uint8_t, 4> transitions{
    Transition::TRANSITION_CONFIGURE, Transition::TRANSITION_ACTIVATE,
    Transition::TRANSITION_DEACTIVATE, Transition::TRANSITION_CLEANUP};

}  // namespace

void lifecycle(Random& random) {
  const Token::Count tokens;
  {
    const auto context = make_context();
    Host host{draw_options(random), context};
    const auto leader =
        std::make_shared<rclcpp::Node>("leader", rclcpp::NodeOptions{}.context(context));
    const auto changes = leader->create_client<ChangeState>("/camera/change_state");
    const auto answers = std::make_shared<std::atomic<int>>(0);
    host.executor.add_node(leader);
    const auto ask = [&] {
      auto request = std::make_shared<ChangeState::Request>();
      request->transition.id = transitions.at(below(random, transitions.size()));
      changes->async_send_request(
          request, [answers, token = tokens.make()](rclcpp::Client<ChangeState>::SharedFuture) {
            ++*answers;
          });
    };
    for (int life = 0; life < 4; ++life) {
      const auto camera = std::make_shared<Camera>(context, tokens);
      // Transitions by threads exclude those by services only outside of the executor.
      const bool by_services = one_in(random, 2);
      if (by_services) {
        host.executor.add_node(camera->get_node_base_interface());
        expect_eventually("a camera is not found", [&] { return changes->service_is_ready(); });
      }
      for (int step = 0; step < 20; ++step) {
        if (by_services) {
          ask();
        } else {
          camera->trigger_transition(transitions.at(below(random, transitions.size())));
        }
        if (!by_services && step == 5) {
          host.executor.add_node(camera->get_node_base_interface());
        }
        if (one_in(random, 4)) {
          os::sleep_until(os::now() + std::chrono::microseconds{below(random, 8000)});
        }
      }
      if (by_services) {
        const int before = *answers;
        expect_eventually("a transition is not answered", [&] {
          ask();
          os::sleep_until(os::now() + 10ms);
          return *answers > before;
        });
      }
      // Transitions use the node itself, not only what their callbacks have captured.
      host.executor.remove_node(camera->get_node_base_interface());
      host.expect_gone();
    }
    changes->prune_pending_requests();
  }
  tokens.expect_none();
}

}  // namespace takt::fuzz
