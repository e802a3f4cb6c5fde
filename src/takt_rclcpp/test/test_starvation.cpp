// SPDX-License-Identifier: Apache-2.0
//
// Starvation under rclcpp's executors, as their issues tell of it, and the same nodes under Takt's.
// rclcpp's side is counted and printed, and asserted only where it cannot come out otherwise.
#include <algorithm>
#include <functional>
#include <iostream>
#include <rcl_interfaces/srv/list_parameters.hpp>
#include <std_msgs/msg/int32.hpp>

#include "support.hpp"
#include "takt/rclcpp/any_executor.hpp"

namespace takt::test {
namespace {

using rcl_interfaces::srv::ListParameters;
using std_msgs::msg::Int32;

constexpr auto period = 5ms;
constexpr auto burn_time = 12ms;  // overload: more than two periods
constexpr int enough = 30;

// A callback that takes more than its period, and one that should run beside it. Only one callback
// at a time counts here: all are of one mutually exclusive group.
struct Count {
  std::atomic<int> hogs{0};    // begun
  std::atomic<int> served{0};  // of what each hog asked for as it began
  std::atomic<int> most{0};    // hogs that began between asking and being served

  void serve(int asked_by) {
    ++served;
    most = std::max(most.load(), hogs - asked_by);
  }
};

// In the order in which two callbacks began: 'a' and 'b'.
std::size_t longest_run(const std::string& order) {
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    const std::size_t end = std::min(order.find_first_not_of(order[begin], begin), order.size());
    longest = std::max(longest, end - begin);
    begin = end;
  }
  return longest;
}

class Starvation : public WithContext, public testing::WithParamInterface<std::string> {
 protected:
  [[nodiscard]] static bool is_takt() { return GetParam() == "takt"; }

  void make(takt_rclcpp::TimingRule rule) {
    auto options = quiet();
    options.timing = std::move(rule);
    executor_ = takt_rclcpp::make_executor(GetParam(), std::move(options), 4);
  }

  // The callback that takes too long. `ask` is called with its number as it begins.
  rclcpp::TimerBase::SharedPtr make_hog(const rclcpp::Node::SharedPtr& node,
                                        std::function<void(int)> ask) {
    return node->create_wall_timer(period, [this, ask = std::move(ask)] {
      const int number = ++count_.hogs;
      if (number > enough) {
        executor_->cancel();
        return;
      }
      ask(number);
      burn(burn_time);
    });
  }

  void report(const std::string& what) const { std::cout << GetParam() << ": " << what << '\n'; }
  void report_count() const {
    report(std::to_string(enough) + " asked, " + std::to_string(count_.served) +
           " served; calls of the hog in between: at most " + std::to_string(count_.most));
  }
  // Served after the callback that asked and before the next one, each time.
  void expect_no_starvation() const {
    EXPECT_EQ(count_.served, enough);
    EXPECT_EQ(count_.most, 0);
  }

  std::unique_ptr<rclcpp::Executor> executor_;
  Count count_;
};

INSTANTIATE_TEST_SUITE_P(Executors, Starvation, testing::ValuesIn(takt_rclcpp::executor_names()),
                         [](const testing::TestParamInfo<std::string>& of) { return of.param; });

// rclcpp#392: a timer that is always due again, and a service.
TEST_P(Starvation, aServiceIsServedBesideATimerThatTakesTooLong) {
  if (const auto why = no_fifo(); why && is_takt()) {
    GTEST_SKIP() << *why;
  }
  const auto node = std::make_shared<rclcpp::Node>("busy");
  const auto asker = std::make_shared<rclcpp::Node>("asker");  // nobody waits for the answers
  const auto service = node->create_service<ListParameters>(
      unique("ask"), [this](const ListParameters::Request::SharedPtr request,
                            ListParameters::Response::SharedPtr) {
        count_.serve(static_cast<int>(request->depth));
      });
  const auto client = asker->create_client<ListParameters>(unique("ask"));
  ASSERT_TRUE(client->wait_for_service(150s));
  const auto hog = make_hog(node, [&](int number) {
    auto request = std::make_shared<ListParameters::Request>();
    request->depth = static_cast<std::uint64_t>(number);
    client->async_send_request(request);
  });
  make([](const CallbackId& id) {
    return id.kind == CallbackKind::service && !id.housekeeping ? Timing{.priority = 30} : Timing{};
  });
  executor_->add_node(node);
  executor_->spin();
  report_count();
  if (is_takt()) {
    expect_no_starvation();
  }
}

// rclcpp#2402: the same with input that comes as messages; seen with the multi-threaded executor.
TEST_P(Starvation, aSubscriptionHearsBesideATimerThatTakesTooLong) {
  const auto node = std::make_shared<rclcpp::Node>("busy");
  const auto in = node->create_subscription<Int32>(
      unique("input"), 100, [this](const Int32& message) { count_.serve(message.data); });
  const auto out = node->create_publisher<Int32>(unique("input"), 100);
  ASSERT_TRUE(eventually([&] { return out->get_subscription_count() == 1; }));
  const auto hog = make_hog(node, [&](int number) { out->publish(Int32{}.set__data(number)); });
  make([](const CallbackId& id) {
    return id.kind == CallbackKind::subscription && !id.housekeeping ? Timing{.priority = 30}
                                                                     : Timing{};
  });
  executor_->add_node(node);
  executor_->spin();
  report_count();
  if (is_takt()) {
    expect_no_starvation();
  }
}

// rclcpp#2360: two timers that take more than their period; one of them never ran.
TEST_P(Starvation, twoTimersOfAGroupThatTakeTooLongTakeTurns) {
  const auto node = std::make_shared<rclcpp::Node>("turns");
  std::string order;  // of one group: never written at once
  int calls = 0;
  const auto make_timer = [&](char letter) {
    return node->create_wall_timer(period, [this, letter, &order, &calls] {
      if (order.size() == enough || ++calls > 10 * enough) {
        executor_->cancel();
        return;
      }
      // Takt's threads run before all timers are armed: without a core for the thread that arms
      // them, the first one runs alone for a while. They take turns from where both are there.
      if (!is_takt() || letter == 'b' || !order.empty()) {
        order += letter;
      }
      burn(burn_time);
    });
  };
  const auto first = make_timer('a');
  const auto second = make_timer('b');
  make({});
  executor_->add_node(node);
  executor_->spin();
  report(order);
  if (is_takt()) {
    EXPECT_EQ(order.size(), std::size_t{enough});
    EXPECT_EQ(longest_run(order), 1U) << order;
  }
}

// rclcpp#2645: a node with two subscriptions, more messages than it can work on; one of them was
// never called.
TEST_P(Starvation, twoSubscriptionsOfAGroupThatAreOverrunTakeTurns) {
  const auto producer = std::make_shared<rclcpp::Node>("producer");
  const auto consumer = std::make_shared<rclcpp::Node>("consumer");
  std::string order;
  const auto subscribe = [&](char letter) {
    return consumer->create_subscription<Int32>(unique(std::string{"topic_"} + letter), 100,
                                                [this, letter, &order](const Int32&) {
                                                  if (order.size() == enough) {
                                                    executor_->cancel();
                                                    return;
                                                  }
                                                  order += letter;
                                                  burn(burn_time);
                                                });
  };
  const auto second = subscribe('b');
  const auto first = subscribe('a');
  const auto to_first = producer->create_publisher<Int32>(unique("topic_a"), 100);
  const auto to_second = producer->create_publisher<Int32>(unique("topic_b"), 100);
  ASSERT_TRUE(eventually([&] {
    return to_first->get_subscription_count() == 1 && to_second->get_subscription_count() == 1;
  }));
  const auto timer = producer->create_wall_timer(1ms, [&] {
    to_first->publish(Int32{});
    to_second->publish(Int32{});
  });
  make([](const CallbackId& id) {
    return id.kind == CallbackKind::timer ? Timing{.priority = 30} : Timing{};
  });
  executor_->add_node(producer);
  executor_->add_node(consumer);
  executor_->spin();
  report(order);
  if (is_takt()) {
    EXPECT_EQ(longest_run(order), 1U) << order;
  }
}

}  // namespace
}  // namespace takt::test
