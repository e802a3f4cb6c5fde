// SPDX-License-Identifier: Apache-2.0
//
// Reentrant groups: a callback runs twice at once, on two cores, as under rclcpp's multi-threaded
// executors. Each call waits inside until another one has come, so that nothing depends on speed.
#include <algorithm>
#include <functional>
#include <mutex>
#include <set>

#include "rcl_interfaces/srv/list_parameters.hpp"
#include "std_msgs/msg/int32.hpp"
#include "support.hpp"

namespace takt::test {
namespace {

using rcl_interfaces::srv::ListParameters;
using std_msgs::msg::Int32;

class Reentrant : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    cpus_ = os::current_thread().cpus;
    if (cpus_.size() < 2) {
      GTEST_SKIP() << "there is one core";
    }
    cpus_.resize(2);
    node_ = std::make_shared<rclcpp::Node>(unique("reentrant"));
    group_ = node_->create_callback_group(rclcpp::CallbackGroupType::Reentrant);
    options_ = quiet();
    options_.scheduling.cpus = cpus_;
  }

  // Returns when two have been inside at once, or the test has ended.
  void meet() {
    if (++inside_ > 1) {
      met_ = true;
    }
    while (!met_ && !over_) {
      os::sleep_until(os::now() + 100us);
    }
    --inside_;
    ++calls_;
  }

  void expect_two_at_once(SchedulingExecutor& executor) {
    executor.add_node(node_);
    Spinning spinning{executor};
    begin_();
    EXPECT_TRUE(eventually([&] { return met_.load(); }));
    over_ = true;
    spinning.end();
  }

  std::vector<int> cpus_;
  rclcpp::Node::SharedPtr node_;
  rclcpp::CallbackGroup::SharedPtr group_;
  takt_rclcpp::Options options_;
  std::function<void()> begin_ = [] {};
  std::atomic<int> inside_{0};
  std::atomic<int> calls_{0};
  std::atomic<bool> met_{false};
  std::atomic<bool> over_{false};
};

TEST_F(Reentrant, aSubscriptionRunsTwiceAtOnce) {
  rclcpp::SubscriptionOptions of_group;
  of_group.callback_group = group_;
  const auto in = node_->create_subscription<Int32>(
      unique("twice"), 10, [this](const Int32&) { meet(); }, of_group);
  const auto out = node_->create_publisher<Int32>(unique("twice"), 10);
  begin_ = [&] {
    out->publish(Int32{});
    out->publish(Int32{});
  };
  SchedulingExecutor executor{options_};
  expect_two_at_once(executor);
}

TEST_F(Reentrant, aServiceRunsTwiceAtOnce) {
  const auto service = node_->create_service<ListParameters>(
      unique("serves"),
      [this](const ListParameters::Request::SharedPtr, const ListParameters::Response::SharedPtr) {
        meet();
      },
      rclcpp::ServicesQoS(), group_);
  const auto client = node_->create_client<ListParameters>(unique("serves"));
  begin_ = [&] {
    EXPECT_TRUE(client->wait_for_service(150s));
    static_cast<void>(client->async_send_request(std::make_shared<ListParameters::Request>()));
    static_cast<void>(client->async_send_request(std::make_shared<ListParameters::Request>()));
  };
  SchedulingExecutor executor{options_};
  expect_two_at_once(executor);
}

TEST_F(Reentrant, aTimerRunsTwiceAtOnce) {
  const auto timer = node_->create_wall_timer(5ms, [this] { meet(); }, group_);
  SchedulingExecutor executor{options_};
  expect_two_at_once(executor);
}

// Each message comes to one of them.
TEST_F(Reentrant, everyMessageComesOnce) {
  constexpr int messages = 500;
  rclcpp::SubscriptionOptions of_group;
  of_group.callback_group = group_;
  std::mutex mutex;
  std::multiset<int> heard;
  const auto in = node_->create_subscription<Int32>(
      unique("once"), rclcpp::QoS{messages}.reliable(),
      [&](const Int32& message) {
        const std::lock_guard lock{mutex};
        heard.insert(message.data);
      },
      of_group);
  const auto out = node_->create_publisher<Int32>(unique("once"), rclcpp::QoS{messages}.reliable());
  SchedulingExecutor executor{options_};
  executor.add_node(node_);
  for (int round = 0; round < 2; ++round) {  // it spins again with all of its lanes
    Spinning spinning{executor};
    for (int i = 0; i < messages / 2; ++i) {
      out->publish(Int32{}.set__data(round * messages / 2 + i));
    }
    EXPECT_TRUE(eventually([&] {
      const std::lock_guard lock{mutex};
      return heard.size() == static_cast<std::size_t>((round + 1) * messages / 2);
    }));
    spinning.end();
  }
  for (int i = 0; i < messages; ++i) {
    EXPECT_EQ(heard.count(i), 1U) << i;
  }
}

// A timer's calls keep the period of the node, and rcl its next call.
TEST_F(Reentrant, theLanesOfATimerShareItsPeriod) {
  const auto timer = node_->create_wall_timer(5ms, [this] { ++calls_; }, group_);
  SchedulingExecutor executor{options_};
  executor.add_node(node_);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return calls_ >= 100; }));
  EXPECT_LE(timer->time_until_trigger(), 6ms);
  std::vector<std::uint64_t> jobs;
  for (const std::string& name : executor.callbacks()) {
    if (name.find("timer") != std::string::npos) {
      jobs.push_back(executor.statistics(name).completed);
    }
  }
  ASSERT_EQ(jobs.size(), 2U);
  EXPECT_GT(jobs[0], 10U);
  EXPECT_GT(jobs[1], 10U);
  spinning.end();
}

// A callback that goes takes all of its lanes with it, and one that comes brings its own.
TEST_F(Reentrant, callbacksComeAndGo) {
  rclcpp::SubscriptionOptions of_group;
  of_group.callback_group = group_;
  SchedulingExecutor executor{options_};
  executor.add_node(node_);
  Spinning spinning{executor};
  const auto out = node_->create_publisher<Int32>(unique("goes"), 10);
  const auto lanes = [&] {
    return std::ranges::count_if(executor.callbacks(), [](const std::string& name) {
      return name.find(unique("goes")) != std::string::npos;
    });
  };
  for (int round = 0; round < 10; ++round) {
    calls_ = 0;
    auto in = node_->create_subscription<Int32>(
        unique("goes"), 10, [this](const Int32&) { ++calls_; }, of_group);
    ASSERT_TRUE(eventually([&] {
      out->publish(Int32{});
      return calls_ > 4;
    }));
    ASSERT_TRUE(eventually([&] { return lanes() == 2; }));  // jobs run before it is listed
    in.reset();
    ASSERT_TRUE(eventually([&] { return lanes() == 0; }));
  }
  spinning.end();
}

}  // namespace
}  // namespace takt::test
