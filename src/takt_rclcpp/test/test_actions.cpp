// SPDX-License-Identifier: Apache-2.0
//
// Actions, unmodified: a server and a client.
#include <memory>
#include <mutex>
#include <rclcpp_action/rclcpp_action.hpp>
#include <test_msgs/action/fibonacci.hpp>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

using Fibonacci = test_msgs::action::Fibonacci;
using ServerGoal = rclcpp_action::ServerGoalHandle<Fibonacci>;
using ClientGoal = rclcpp_action::ClientGoalHandle<Fibonacci>;

// One step every 2 ms by a timer of its own, as an author would who does not want to block.
class Server : public rclcpp::Node {
 public:
  Server() : Node{"server"} {
    server_ = rclcpp_action::create_server<Fibonacci>(
        this, unique("fibonacci"),
        [](const rclcpp_action::GoalUUID&, const Fibonacci::Goal::ConstSharedPtr& goal) {
          return goal->order < 0 ? rclcpp_action::GoalResponse::REJECT
                                 : rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
        },
        [](const std::shared_ptr<ServerGoal>&) { return rclcpp_action::CancelResponse::ACCEPT; },
        [this](const std::shared_ptr<ServerGoal>& goal) {
          const std::lock_guard lock{mutex_};
          goals_.push_back({.handle = goal, .sequence = {0, 1}});
        });
    timer_ = create_wall_timer(2ms, [this] { step(); });
  }

 private:
  struct Work {
    std::shared_ptr<ServerGoal> handle;
    std::vector<std::int32_t> sequence;
  };

  void step() {
    const std::lock_guard lock{mutex_};
    std::erase_if(goals_, [](Work& work) {
      auto result = std::make_shared<Fibonacci::Result>();
      if (work.handle->is_canceling()) {
        result->sequence = work.sequence;
        work.handle->canceled(result);
        return true;
      }
      if (work.sequence.size() > static_cast<std::size_t>(work.handle->get_goal()->order)) {
        result->sequence = work.sequence;
        work.handle->succeed(result);
        return true;
      }
      work.sequence.push_back(*(work.sequence.end() - 1) + *(work.sequence.end() - 2));
      auto feedback = std::make_shared<Fibonacci::Feedback>();
      feedback->sequence = work.sequence;
      work.handle->publish_feedback(feedback);
      return false;
    });
  }

  std::mutex mutex_;
  std::vector<Work> goals_;
  rclcpp_action::Server<Fibonacci>::SharedPtr server_;
  rclcpp::TimerBase::SharedPtr timer_;
};

class Actions : public WithContext {};

TEST_F(Actions, feedbackComesAndAGoalIsCancelled) {
  const auto server = std::make_shared<Server>();
  const auto node = std::make_shared<rclcpp::Node>("planner");
  const auto client = rclcpp_action::create_client<Fibonacci>(node, unique("fibonacci"));
  std::atomic<int> steps{0};
  std::atomic<int> code{-1};
  std::atomic<bool> rejected{false};
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  executor.add_node(server);
  Spinning spinning{executor};
  ASSERT_TRUE(client->wait_for_action_server(150s));
  rclcpp_action::Client<Fibonacci>::SendGoalOptions options;
  options.feedback_callback = [&](const ClientGoal::SharedPtr&,
                                  const std::shared_ptr<const Fibonacci::Feedback>&) { ++steps; };
  options.result_callback = [&](const ClientGoal::WrappedResult& result) {
    code = static_cast<int>(result.code);
  };
  Fibonacci::Goal endless;
  endless.order = 1'000'000;
  auto accepted = client->async_send_goal(endless, options);
  ASSERT_EQ(accepted.wait_for(150s), std::future_status::ready);
  ASSERT_NE(accepted.get(), nullptr);
  EXPECT_TRUE(eventually([&] { return steps > 3; }));
  client->async_cancel_goal(accepted.get());
  EXPECT_TRUE(eventually([&] { return code != -1; }));
  EXPECT_EQ(code, static_cast<int>(rclcpp_action::ResultCode::CANCELED));
  Fibonacci::Goal impossible;
  impossible.order = -1;
  auto refused = client->async_send_goal(impossible);
  ASSERT_EQ(refused.wait_for(150s), std::future_status::ready);
  EXPECT_EQ(refused.get(), nullptr);
}

}  // namespace
}  // namespace takt::test
