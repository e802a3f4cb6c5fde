// SPDX-License-Identifier: Apache-2.0
//
// Mutually exclusive groups some of whose callbacks have threads of their own.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <rcl_interfaces/srv/list_parameters.hpp>
#include <sstream>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

using rcl_interfaces::srv::ListParameters;

class Groups : public WithContext {};

// Of a thread of this process as it is now, with what others lend it: 1..99 for FIFO.
int priority_of(int thread) {
  std::ifstream file{"/proc/self/task/" + std::to_string(thread) + "/stat"};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  std::istringstream after_name{text.substr(std::min(text.rfind(')'), text.size() - 1) + 1)};
  constexpr int before = 15;
  std::string word;
  for (int i = 0; i < before; ++i) {
    after_name >> word;
  }
  int priority = 0;
  after_name >> priority;
  return -1 - priority;
}

auto answers(std::atomic<int>& answered) {
  return [&](const ListParameters::Request::SharedPtr, const ListParameters::Response::SharedPtr) {
    ++answered;
  };
}

// Also where it had begun before anybody of its group had a thread of its own.
TEST_F(Groups, whoWaitsForACallbackLendsItItsPriority) {
  if (const auto why = no_fifo()) {
    GTEST_SKIP() << "no real-time priorities: " << *why;
  }
  const auto node = std::make_shared<rclcpp::Node>("holds");
  std::atomic<int> thread{0};
  std::atomic<bool> may_end{false};
  const auto timer = node->create_wall_timer(1ms, [&] {
    thread = ::gettid();
    static_cast<void>(eventually([&] { return may_end.load(); }));
  });
  SchedulingExecutor executor{quiet()};
  executor.set_timing([](const CallbackId& id) {
    if (id.housekeeping) {
      return Timing{};
    }
    return Timing{.priority = id.kind == CallbackKind::timer ? 5 : 40};
  });
  executor.add_node(node);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return thread != 0; }));
  EXPECT_EQ(priority_of(thread), 5);
  std::atomic<int> answered{0};
  const auto service = node->create_service<ListParameters>(unique("late"), answers(answered));
  const auto client = node->create_client<ListParameters>(unique("late"));
  EXPECT_TRUE(client->wait_for_service(150s));
  static_cast<void>(client->async_send_request(std::make_shared<ListParameters::Request>()));
  EXPECT_TRUE(eventually([&] { return priority_of(thread) == 40; })) << priority_of(thread);
  EXPECT_EQ(answered, 0);
  may_end = true;
  EXPECT_TRUE(eventually([&] { return answered == 1; }));
}

// On two cores where there are, while who waits comes and goes.
TEST_F(Groups, callbacksNeverRunAtOnceHoweverTheyCome) {
  const auto node = std::make_shared<rclcpp::Node>("excludes");
  std::atomic<int> inside{0};
  std::atomic<int> together{0};
  std::atomic<int> calls{0};
  const auto run_exclusively = [&] {
    together += inside++ != 0 ? 1 : 0;
    burn(100us);
    --inside;
    ++calls;
  };
  std::vector<rclcpp::TimerBase::SharedPtr> timers;
  for (int i = 0; i < 3; ++i) {
    timers.push_back(node->create_wall_timer(1ms, run_exclusively));
  }
  auto options = quiet();
  options.scheduling.cpus = {};
  SchedulingExecutor executor{options};
  executor.add_node(node);
  Spinning spinning{executor};
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> answered{0};
    const std::string name = unique("round" + std::to_string(round));
    const auto service = node->create_service<ListParameters>(
        name,
        [&](const ListParameters::Request::SharedPtr, const ListParameters::Response::SharedPtr) {
          run_exclusively();
          ++answered;
        });
    const auto client = node->create_client<ListParameters>(name);
    EXPECT_TRUE(client->wait_for_service(150s));
    for (int i = 1; i <= 5; ++i) {
      static_cast<void>(client->async_send_request(std::make_shared<ListParameters::Request>()));
    }
    const int before = calls;
    EXPECT_TRUE(eventually([&] { return answered == 5 && calls > before + 10; })) << answered;
  }
  spinning.end();
  EXPECT_EQ(together, 0);
}

}  // namespace
}  // namespace takt::test
