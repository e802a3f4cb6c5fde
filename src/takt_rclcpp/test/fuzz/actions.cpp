// SPDX-License-Identifier: Apache-2.0
//
// Action servers and clients: goals that are refused, end, and are cancelled, while either side
// leaves its executor, comes back, or is destroyed.
#include <algorithm>
#include <mutex>
#include <rclcpp_action/rclcpp_action.hpp>
#include <test_msgs/action/fibonacci.hpp>

#include "fuzz.hpp"

namespace takt::fuzz {
namespace {

using test_msgs::action::Fibonacci;
using ServerGoal = rclcpp_action::ServerGoalHandle<Fibonacci>;
using ClientGoal = rclcpp_action::ClientGoalHandle<Fibonacci>;

class Server {
 public:
  Server(const rclcpp::Context::SharedPtr& context, const Token::Count& tokens)
      : node_{std::make_shared<rclcpp::Node>("server", rclcpp::NodeOptions{}.context(context))} {
    const auto token = std::make_shared<Token>(tokens.make());
    server_ = rclcpp_action::create_server<Fibonacci>(
        node_, "fibonacci",
        [token](const rclcpp_action::GoalUUID&, const Fibonacci::Goal::ConstSharedPtr& goal) {
          token->use();
          return goal->order < 0 ? rclcpp_action::GoalResponse::REJECT
                                 : rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
        },
        [token](const std::shared_ptr<ServerGoal>&) {
          token->use();
          return rclcpp_action::CancelResponse::ACCEPT;
        },
        [token, work = work_](const std::shared_ptr<ServerGoal>& goal) {
          token->use();
          const std::lock_guard lock{work->mutex};
          work->goals.push_back(goal);
        });
    timer_ = node_->create_wall_timer(2ms, [token, work = work_] { work->step(); });
  }

  [[nodiscard]] const rclcpp::Node::SharedPtr& node() const { return node_; }

 private:
  struct Work {
    std::mutex mutex;
    std::vector<std::shared_ptr<ServerGoal>> goals;
    std::int32_t steps = 0;

    void step() {
      const std::lock_guard lock{mutex};
      ++steps;
      std::erase_if(goals, [this](const std::shared_ptr<ServerGoal>& goal) {
        if (goal->is_canceling()) {
          goal->canceled(std::make_shared<Fibonacci::Result>());
          return true;
        }
        if (goal->is_executing() && steps % 16 > goal->get_goal()->order) {
          goal->succeed(std::make_shared<Fibonacci::Result>());
          return true;
        }
        goal->publish_feedback(std::make_shared<Fibonacci::Feedback>());
        return false;
      });
    }
  };

  const std::shared_ptr<Work> work_ = std::make_shared<Work>();
  rclcpp::Node::SharedPtr node_;
  rclcpp_action::Server<Fibonacci>::SharedPtr server_;
  rclcpp::TimerBase::SharedPtr timer_;
};

class Client {
 public:
  Client(const rclcpp::Context::SharedPtr& context, const Token::Count& tokens,
         std::shared_ptr<std::atomic<int>> answers)
      : node_{std::make_shared<rclcpp::Node>("client", rclcpp::NodeOptions{}.context(context))},
        client_{rclcpp_action::create_client<Fibonacci>(node_, "fibonacci")},
        tokens_{tokens},
        answers_{std::move(answers)} {}

  void send(Random& random) {
    Fibonacci::Goal goal;
    goal.order = static_cast<std::int32_t>(below(random, 20)) - 2;
    rclcpp_action::Client<Fibonacci>::SendGoalOptions options;
    options.goal_response_callback = [token = tokens_.make(),
                                      answers = answers_](const ClientGoal::SharedPtr&) {
      token.use();
      ++*answers;
    };
    options.feedback_callback = [token = tokens_.make()](
                                    const ClientGoal::SharedPtr&,
                                    const std::shared_ptr<const Fibonacci::Feedback>&) {
      token.use();
    };
    options.result_callback = [token = tokens_.make()](const ClientGoal::WrappedResult&) {
      token.use();
    };
    sent_.push_back(client_->async_send_goal(goal, options));
  }
  void cancel(Random& random) {
    if (sent_.empty()) {
      return;
    }
    const auto& one = sent_[below(random, sent_.size())];
    if (one_in(random, 4)) {
      client_->async_cancel_all_goals();
    } else if (one.wait_for(0s) == std::future_status::ready && one.get() != nullptr) {
      try {
        client_->async_cancel_goal(one.get());
      } catch (const rclcpp_action::exceptions::UnknownGoalHandleError&) {  // it has ended
      }
    }
  }
  [[nodiscard]] bool sees_server() const { return client_->action_server_is_ready(); }
  [[nodiscard]] const rclcpp::Node::SharedPtr& node() const { return node_; }

 private:
  rclcpp::Node::SharedPtr node_;
  rclcpp_action::Client<Fibonacci>::SharedPtr client_;
  const Token::Count& tokens_;
  const std::shared_ptr<std::atomic<int>> answers_;
  std::vector<std::shared_future<ClientGoal::SharedPtr>> sent_;
};

// Leaves the executor; comes back, or is destroyed, also before its last callback has ended. Not
// while the executor has it: what rclcpp_action hooks into the middleware goes before its services.
template <class Side>
void leave(Host& host, std::unique_ptr<Side>& side, Random& random) {
  host.executor.remove_node(side->node());
  if (one_in(random, 2)) {
    host.expect_gone();
  }
  if (one_in(random, 3)) {
    host.executor.add_node(side->node());
  } else {
    side.reset();
  }
}

}  // namespace

void actions(Random& random) {
  const Token::Count tokens;
  {
    const auto context = make_context();
    Host host{draw_options(random), context};
    const auto answers = std::make_shared<std::atomic<int>>(0);
    std::unique_ptr<Server> server;
    std::unique_ptr<Client> client;
    const auto make = [&] {
      if (!server) {
        server = std::make_unique<Server>(context, tokens);
        host.executor.add_node(server->node());
      }
      if (!client) {
        client = std::make_unique<Client>(context, tokens, answers);
        host.executor.add_node(client->node());
      }
    };
    for (int step = 0; step < 80; ++step) {
      make();
      switch (below(random, 16)) {
        case 0:
          leave(host, server, random);
          break;
        case 1:
          leave(host, client, random);
          break;
        case 2:
          expect_eventually("a server is not found", [&] { return client->sees_server(); });
          break;
        case 3:
        case 4:
        case 5:
          client->cancel(random);
          break;
        case 6:
        case 7:
          os::sleep_until(os::now() + std::chrono::microseconds{below(random, 5000)});
          break;
        default:
          client->send(random);
      }
    }
    make();
    const int before = *answers;
    expect_eventually("a goal is not answered", [&] {
      if (client->sees_server()) {
        client->send(random);
        os::sleep_until(os::now() + 20ms);
      }
      return *answers > before;
    });
    host.executor.remove_node(client->node());
    host.executor.remove_node(server->node());
  }
  tokens.expect_none();
}

}  // namespace takt::fuzz
