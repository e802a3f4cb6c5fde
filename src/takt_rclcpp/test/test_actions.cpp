// SPDX-License-Identifier: Apache-2.0
//
// Actions, unmodified: a server and a client, also waited for inside a callback.
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
class Server : public ::rclcpp::Node {
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
  ::rclcpp::TimerBase::SharedPtr timer_;
};

class Actions : public WithContext, public testing::WithParamInterface<int> {};

// Of the callback that waits.
INSTANTIATE_TEST_SUITE_P(Priorities, Actions, testing::Values(10, 98));

TEST_P(Actions, aCallbackWaitsForTheResultOfItsGoal) {
  const auto server = std::make_shared<Server>();
  const auto node = std::make_shared<::rclcpp::Node>("planner");
  const auto apart = node->create_callback_group(::rclcpp::CallbackGroupType::MutuallyExclusive);
  const auto client = rclcpp_action::create_client<Fibonacci>(node, unique("fibonacci"), apart);
  std::atomic<int> done{0};
  std::atomic<int> failed{0};
  const auto timer = node->create_wall_timer(5ms, [&] {
    if (!client->action_server_is_ready()) {  // what is sent before it is found is lost
      return;
    }
    Fibonacci::Goal goal;
    goal.order = 5;
    auto accepted = client->async_send_goal(goal);
    if (accepted.wait_for(20s) != std::future_status::ready || accepted.get() == nullptr) {
      ++failed;
      return;
    }
    auto result = client->async_get_result(accepted.get());
    if (result.wait_for(20s) == std::future_status::ready &&
        result.get().result->sequence == std::vector<std::int32_t>{0, 1, 1, 2, 3, 5}) {
      ++done;
    } else {
      ++failed;
    }
  });
  SchedulingExecutor executor{quiet()};
  executor.set_timing([](const CallbackId& id) {
    return id.node == "/planner" && id.kind == CallbackKind::timer
               ? Timing{.priority = GetParam(), .waits = true}
               : Timing{};
  });
  executor.add_node(node);
  executor.add_node(server);
  Spinning spinning{executor};
  ASSERT_TRUE(eventually([&] { return client->action_server_is_ready(); }));
  EXPECT_TRUE(eventually([&] { return done > 3 || failed > 0; }));
  spinning.end();
  EXPECT_EQ(failed, 0);
  EXPECT_GT(done, 3);
}

TEST_F(Actions, feedbackComesAndAGoalIsCancelled) {
  const auto server = std::make_shared<Server>();
  const auto node = std::make_shared<::rclcpp::Node>("planner");
  const auto client = rclcpp_action::create_client<Fibonacci>(node, unique("fibonacci"));
  std::atomic<int> steps{0};
  std::atomic<int> code{-1};
  std::atomic<bool> rejected{false};
  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  executor.add_node(server);
  Spinning spinning{executor};
  ASSERT_TRUE(client->wait_for_action_server(20s));
  rclcpp_action::Client<Fibonacci>::SendGoalOptions options;
  options.feedback_callback = [&](const ClientGoal::SharedPtr&,
                                  const std::shared_ptr<const Fibonacci::Feedback>&) { ++steps; };
  options.result_callback = [&](const ClientGoal::WrappedResult& result) {
    code = static_cast<int>(result.code);
  };
  Fibonacci::Goal endless;
  endless.order = 1'000'000;
  auto accepted = client->async_send_goal(endless, options);
  ASSERT_EQ(accepted.wait_for(20s), std::future_status::ready);
  ASSERT_NE(accepted.get(), nullptr);
  EXPECT_TRUE(eventually([&] { return steps > 3; }));
  client->async_cancel_goal(accepted.get());
  EXPECT_TRUE(eventually([&] { return code != -1; }));
  EXPECT_EQ(code, static_cast<int>(rclcpp_action::ResultCode::CANCELED));
  Fibonacci::Goal impossible;
  impossible.order = -1;
  auto refused = client->async_send_goal(impossible);
  ASSERT_EQ(refused.wait_for(20s), std::future_status::ready);
  EXPECT_EQ(refused.get(), nullptr);
}

}  // namespace
}  // namespace takt::test
