// SPDX-License-Identifier: Apache-2.0
//
// A program as others write them, which knows nothing of Takt: spun EXECUTOR SCENARIO. What it
// prints is the same whoever spins its nodes; test_spun_programs.py of the tool compares.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <rcl_interfaces/srv/list_parameters.hpp>
#include <rclcpp/rclcpp.hpp>
#include <std_msgs/msg/int64.hpp>
#include <string>
#include <thread>

#include "spun_executors.hpp"

namespace {

using namespace std::chrono_literals;
using rclcpp::Executor;
using rclcpp::Node;
using std_msgs::msg::Int64;

// Ends what would wait for ever: the scenario then prints something else.
class Limit {
 public:
  explicit Limit(std::function<void()> end)
      : thread_{[this, end = std::move(end)] {
          for (int i = 0; i < 1500 && !over_; ++i) {
            std::this_thread::sleep_for(10ms);
          }
          if (!over_) {
            std::puts("it took too long");
            end();
          }
        }} {}
  ~Limit() {
    over_ = true;
    thread_.join();
  }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  Limit(Limit&&) = delete;
  Limit& operator=(Limit&&) = delete;

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

struct Pair {
  explicit Pair(bool intra = false)
      : talker{std::make_shared<Node>("talker",
                                      rclcpp::NodeOptions{}.use_intra_process_comms(intra))},
        listener{std::make_shared<Node>("listener",
                                        rclcpp::NodeOptions{}.use_intra_process_comms(intra))} {}

  // Calls `done` when all have been heard.
  void talk(std::function<void()> done, int count = 20) {
    publisher = talker->create_publisher<Int64>("numbers", 100);
    subscription = listener->create_subscription<Int64>(
        "numbers", 100, [this, done = std::move(done), count](const Int64& message) {
          in_order = in_order && message.data == heard;
          if (++heard == count) {
            done();
          }
        });
    timer = talker->create_wall_timer(10ms, [this, count] {
      if (publisher->get_subscription_count() == 0 || sent == count) {
        return;
      }
      Int64 message;
      message.data = sent++;
      publisher->publish(message);
    });
  }
  void print() const { std::printf("heard %d, in order: %d\n", heard, in_order ? 1 : 0); }

  std::shared_ptr<Node> talker;
  std::shared_ptr<Node> listener;
  rclcpp::Publisher<Int64>::SharedPtr publisher;
  rclcpp::Subscription<Int64>::SharedPtr subscription;
  rclcpp::TimerBase::SharedPtr timer;
  int sent = 0;
  int heard = 0;
  bool in_order = true;
};

void messages(Executor& executor, bool intra) {
  Pair pair{intra};
  pair.talk([&] { executor.cancel(); });
  executor.add_node(pair.talker);
  executor.add_node(pair.listener);
  executor.spin();
  pair.print();
  executor.remove_node(pair.talker);
  executor.remove_node(pair.listener);
}

void parameters(Executor& executor) {
  const auto server = std::make_shared<Node>("server");
  const auto asks = std::make_shared<Node>("asks");
  server->declare_parameter("speed", 1);
  const auto client = std::make_shared<rclcpp::AsyncParametersClient>(asks, "server");
  rclcpp::TimerBase::SharedPtr timer;
  timer = asks->create_wall_timer(10ms, [&] {
    if (!client->service_is_ready()) {
      return;
    }
    timer->cancel();
    client->set_parameters({rclcpp::Parameter{"speed", 7}}, [&](auto set) {
      std::printf("set: %d\n", set.get().front().successful ? 1 : 0);
      client->get_parameters({"speed"}, [&](auto got) {
        std::printf("speed: %ld\n", static_cast<long>(got.get().front().as_int()));
        executor.cancel();
      });
    });
  });
  executor.add_node(server);
  executor.add_node(asks);
  executor.spin();
}

// Nodes come and go from a callback.
void added(Executor& executor) {
  const auto first = std::make_shared<Node>("first");
  std::shared_ptr<Node> later;
  rclcpp::TimerBase::SharedPtr of_later;
  std::atomic<int> calls{0};
  int round = 0;
  const auto timer = first->create_wall_timer(10ms, [&] {
    if (!later) {
      later = std::make_shared<Node>("later");
      of_later = later->create_wall_timer(5ms, [&] { ++calls; });
      executor.add_node(later);
    } else if (calls >= 3) {
      executor.remove_node(later);
      of_later.reset();
      later.reset();
      calls = 0;
      if (++round == 3) {
        executor.cancel();
      }
    }
  });
  executor.add_node(first);
  executor.spin();
  std::printf("rounds: %d\n", round);
}

void groups(Executor& executor) {
  const auto node = std::make_shared<Node>("node");
  const auto group =
      node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive, false);
  int calls = 0;
  int of_node = 0;
  const auto timer = node->create_wall_timer(
      5ms,
      [&] {
        if (++calls == 5) {
          std::printf("groups: %zu\n", executor.get_all_callback_groups().size());
          executor.cancel();
        }
      },
      group);
  const auto other = node->create_wall_timer(1ms, [&] { ++of_node; });
  executor.add_callback_group(group, node->get_node_base_interface());
  executor.spin();
  executor.remove_callback_group(group);
  std::printf("calls: %d, of the node: %d, groups left: %zu\n", calls, of_node,
              executor.get_all_callback_groups().size());
}

void again(Executor& executor, const std::string& name) {
  const auto node = std::make_shared<Node>("node");
  std::atomic<int> calls{0};
  bool cancels = true;
  const auto timer = node->create_wall_timer(5ms, [&] {
    if (++calls % 3 == 0 && cancels) {
      executor.cancel();
    }
  });
  executor.add_node(node);
  for (int i = 0; i < 3; ++i) {
    executor.spin();
  }
  cancels = false;
  const int before = calls;
  for (int i = 0; i < 500 && calls < before + 3; ++i) {
    executor.spin_some();
    std::this_thread::sleep_for(1ms);
  }
  std::printf("spin_some: %d\n", calls >= before + 3 ? 1 : 0);
  executor.remove_node(node);
  cancels = true;
  const auto other = make_executor(name);
  other->add_node(node);
  const auto last = node->create_wall_timer(50ms, [&] { other->cancel(); });
  other->spin();
  std::puts("spun elsewhere");
}

void future(Executor& executor) {
  const auto node = std::make_shared<Node>("node");
  std::promise<int> promise;
  const auto answer = promise.get_future().share();
  rclcpp::TimerBase::SharedPtr timer;
  timer = node->create_wall_timer(10ms, [&] {
    timer->cancel();
    promise.set_value(42);
  });
  executor.add_node(node);
  const auto code = executor.spin_until_future_complete(answer, 10s);
  std::printf("%s %d\n", code == rclcpp::FutureReturnCode::SUCCESS ? "success" : "failure",
              answer.get());
  std::promise<int> never;
  const auto cancels = node->create_wall_timer(10ms, [&] { executor.cancel(); });
  const auto ended = executor.spin_until_future_complete(never.get_future().share(), 20s);
  std::puts(ended == rclcpp::FutureReturnCode::INTERRUPTED ? "cancelled" : "not cancelled");
}

// What comes between add_node() and spin() is there, too.
void early(Executor& executor) {
  const auto node = std::make_shared<Node>("node");
  const auto asking = std::make_shared<Node>("asking");
  int heard = 0;
  int asked = 0;
  const auto subscription =
      node->create_subscription<Int64>("numbers", 10, [&](const Int64& /*message*/) { ++heard; });
  const auto service = node->create_service<rcl_interfaces::srv::ListParameters>(
      "early",
      [&](const rcl_interfaces::srv::ListParameters::Request::SharedPtr& /*request*/,
          const rcl_interfaces::srv::ListParameters::Response::SharedPtr& /*answer*/) { ++asked; });
  executor.add_node(node);
  const auto client = asking->create_client<rcl_interfaces::srv::ListParameters>("early");
  const auto publisher = asking->create_publisher<Int64>("numbers", 10);
  client->wait_for_service();
  while (publisher->get_subscription_count() == 0) {
    std::this_thread::sleep_for(1ms);
  }
  publisher->publish(Int64{});
  client->async_send_request(std::make_shared<rcl_interfaces::srv::ListParameters::Request>());
  std::this_thread::sleep_for(200ms);
  const auto end = std::chrono::steady_clock::now() + 20s;
  const auto timer = node->create_wall_timer(10ms, [&] {
    if ((heard > 0 && asked > 0) || std::chrono::steady_clock::now() > end) {
      executor.cancel();
    }
  });
  executor.spin();
  std::printf("heard: %d, asked: %d\n", heard, asked);
}

void throws(Executor& executor) {
  const auto node = std::make_shared<Node>("node");
  const auto timer =
      node->create_wall_timer(5ms, [] { throw std::runtime_error{"of the callback"}; });
  executor.add_node(node);
  try {
    executor.spin();
    std::puts("no exception");
  } catch (const std::exception& error) {
    std::printf("from spin(): %s\n", error.what());
  }
  executor.remove_node(node);
}

void two(Executor& executor, const std::string& name) {
  Pair pair;
  const auto other = make_executor(name);
  pair.talk([&] {
    executor.cancel();
    other->cancel();
  });
  executor.add_node(pair.talker);
  other->add_node(pair.listener);
  std::thread thread{[&] { other->spin(); }};
  executor.spin();
  thread.join();
  pair.print();
}

void twice(Executor& executor) {
  const auto node = std::make_shared<Node>("node");
  rclcpp::TimerBase::SharedPtr timer;
  timer = node->create_wall_timer(5ms, [&] {
    timer->cancel();
    for (const auto& spin :
         {std::function<void()>{[&] { executor.spin(); }}, {[&] { executor.spin_some(); }}}) {
      try {
        spin();
        std::puts("it spins twice");
      } catch (const std::runtime_error& error) {
        std::puts("refused");
      }
    }
    std::printf("is spinning: %d\n", executor.is_spinning() ? 1 : 0);
    executor.cancel();
  });
  executor.add_node(node);
  executor.spin();
  std::printf("is spinning: %d\n", executor.is_spinning() ? 1 : 0);
}

// One thread never runs two callbacks at once, nor one within another, of any nodes or groups.
void alone(Executor& executor) {
  std::vector<std::shared_ptr<Node>> nodes;
  std::vector<rclcpp::CallbackGroup::SharedPtr> groups;
  std::vector<rclcpp::TimerBase::SharedPtr> timers;
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::atomic<int> calls{0};
  for (int i = 0; i < 3; ++i) {
    nodes.push_back(std::make_shared<Node>("node" + std::to_string(i)));
    groups.push_back(nodes.back()->create_callback_group(rclcpp::CallbackGroupType::Reentrant));
    for (const auto period : {1ms, 3ms}) {
      timers.push_back(nodes.back()->create_wall_timer(
          period,
          [&] {
            overlaps += ++inside > 1 ? 1 : 0;
            for (const auto end = std::chrono::steady_clock::now() + 300us;
                 std::chrono::steady_clock::now() < end;) {
            }
            --inside;
            if (++calls == 500) {
              executor.cancel();
            }
          },
          groups.back()));
    }
    executor.add_node(nodes.back());
  }
  executor.spin();
  std::printf("overlaps: %d\n", overlaps.load());
}

void shutdown(Executor& executor) {
  const auto node = std::make_shared<Node>("node");
  const auto timer = node->create_wall_timer(5ms, [] { rclcpp::shutdown(); });
  executor.add_node(node);
  executor.spin();
  std::printf("ok: %d\n", rclcpp::ok() ? 1 : 0);
}

void interrupted(Executor& executor) {
  const auto node = std::make_shared<Node>("node");
  int calls = 0;
  const auto timer = node->create_wall_timer(5ms, [&] {
    if (++calls == 3) {
      std::puts("ready");
      std::fflush(stdout);
    }
  });
  executor.add_node(node);
  executor.spin();
  std::puts("spin() has returned");
}

int run(const std::string& name, const std::string& scenario) {
  const auto executor = make_executor(name);
  const Limit limit{[&] { executor->cancel(); }};
  const std::map<std::string, std::function<void()>> scenarios{
      {"messages", [&] { messages(*executor, false); }},
      {"intra", [&] { messages(*executor, true); }},
      {"parameters", [&] { parameters(*executor); }},
      {"added", [&] { added(*executor); }},
      {"groups", [&] { groups(*executor); }},
      {"again", [&] { again(*executor, name); }},
      {"future", [&] { future(*executor); }},
      {"early", [&] { early(*executor); }},
      {"throws", [&] { throws(*executor); }},
      {"two", [&] { two(*executor, name); }},
      {"twice", [&] { twice(*executor); }},
      {"alone", [&] { alone(*executor); }},
      {"shutdown", [&] { shutdown(*executor); }},
      {"interrupted", [&] { interrupted(*executor); }},
      {"free",
       [&] {  // rclcpp::spin(), whose executor nobody sees
         const auto node = std::make_shared<Node>("node");
         const auto timer = node->create_wall_timer(5ms, [] { rclcpp::shutdown(); });
         rclcpp::spin(node);
         std::puts("spun");
       }},
  };
  scenarios.at(scenario)();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  const int code = run(argv[1], argv[2]);
  rclcpp::shutdown();
  return code;
}
