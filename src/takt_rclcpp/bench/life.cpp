// SPDX-License-Identifier: Apache-2.0
//
// What comes and goes: from spin() with many nodes to the first call of a timer that is due; a node
// with a timer of 1 ms added meanwhile, to its first call; a subscription created, heard (of a
// message that is there already) and destroyed; and from shutdown() to the return of spin().
#include <array>
#include <future>
#include <nlohmann/json.hpp>
#include <std_msgs/msg/color_rgba.hpp>
#include <stdexcept>
#include <takt/os/event.hpp>
#include <takt/os/usage.hpp>

#include "bench.hpp"

namespace takt::bench {
namespace {

using Message = std_msgs::msg::ColorRGBA;
constexpr int additions = 15;
constexpr int subscriptions = 30;
constexpr nanoseconds patience = 10s;

// When it was first called; waiting for that is a sleep, as polling would take the core.
class FirstCall {
 public:
  void reported() {
    if (!called_.exchange(true)) moment_.set_value(os::now());
  }
  os::TimePoint wait(const char* what) {
    if (future_.wait_for(patience) != std::future_status::ready) {
      throw std::runtime_error{std::string{what} + " was not called within ten seconds"};
    }
    return future_.get();
  }

 private:
  std::atomic<bool> called_{false};
  std::promise<os::TimePoint> moment_;
  std::future<os::TimePoint> future_ = moment_.get_future();
};

double ms(nanoseconds time) {
  return static_cast<double>(time.count()) / 1e6;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void settle() {
  os::sleep_until(os::now() + 20ms);
}

std::vector<double> add_nodes(rclcpp::Executor& executor) {
  std::vector<double> taken;
  for (int i = 0; i < additions; ++i) {
    const auto node = std::make_shared<rclcpp::Node>("added" + std::to_string(i));
    settle();
    FirstCall first;
    const auto begin = os::now();
    const auto timer = node->create_wall_timer(1ms, [&] { first.reported(); });
    executor.add_node(node);
    taken.push_back(ms(first.wait("a node that was added") - begin));
    timer->cancel();
    executor.remove_node(node);
    settle();
  }
  return taken;
}

// Each: milliseconds, and the CPU time of the process meanwhile.
std::pair<std::vector<double>, double> churn(rclcpp::Node& node) {
  const auto qos = rclcpp::QoS{1}.transient_local();
  const auto publisher = node.create_publisher<Message>("kept", qos);
  publisher->publish(Message{});
  settle();
  std::vector<double> taken;
  const auto before = os::resource_usage(os::UsageOf::process);
  for (int i = 0; i < subscriptions; ++i) {
    FirstCall first;
    const auto begin = os::now();
    auto subscription = node.create_subscription<Message>(
        "kept", qos, [&](const Message& /*message*/) { first.reported(); });
    first.wait("a subscription that was created");
    subscription.reset();
    taken.push_back(ms(os::now() - begin));
    os::sleep_until(os::now() + 2ms);  // a callback may run yet, which has its last words
  }
  const auto used = os::resource_usage(os::UsageOf::process) - before;
  return {taken, ms(used.cpu_time) / subscriptions};
}

}  // namespace

Json life(const Settings& settings) {
  std::vector<std::shared_ptr<rclcpp::Node>> nodes;
  for (int i = 0; i < settings.nodes; ++i) {
    nodes.push_back(std::make_shared<rclcpp::Node>("node" + std::to_string(i)));
  }
  FirstCall started;
  const auto timer = nodes.back()->create_wall_timer(1ms, [&] { started.reported(); });
  const auto executor = make_executor(settings);
  for (const auto& node : nodes) executor->add_node(node);
  settle();

  std::vector<double> added;
  std::pair<std::vector<double>, double> churned;
  os::TimePoint shutdown;
  os::TimePoint first_call;
  auto conducted = std::async(std::launch::async, [&] {
    try {
      first_call = started.wait("the timer of the last node");
      timer->cancel();
      settle();
      added = add_nodes(*executor);
      churned = churn(*nodes.front());
    } catch (...) {
      executor->cancel();
      throw;
    }
    settle();
    shutdown = os::now();
    rclcpp::shutdown();
  });
  const auto begin = os::now();
  executor->spin();
  const auto returned = os::now();
  conducted.get();
  return {{"start_ms", ms(first_call - begin)},
          {"added_ms", median(added)},
          {"added_max_ms", *std::ranges::max_element(added)},
          {"churn_ms", median(churned.first)},
          {"churn_max_ms", *std::ranges::max_element(churned.first)},
          {"churn_cpu_ms", churned.second},
          {"shutdown_ms", ms(returned - shutdown)}};
}

}  // namespace takt::bench
