// SPDX-License-Identifier: Apache-2.0
//
// Entities that come and go without end leave the executor as it was. By hand: TAKT_TEST_ROUNDS
// makes and destroys so many times as many (50: a hundred thousand).
#include <malloc.h>

#include <cstdlib>
#include <rcl_interfaces/srv/list_parameters.hpp>
#include <std_msgs/msg/int32.hpp>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

using rcl_interfaces::srv::ListParameters;
using std_msgs::msg::Int32;

class Churn : public WithContext {};

constexpr int timers_a_round = 16;
constexpr int entities_a_round = timers_a_round + 4;

int rounds() {
  const char* const factor = std::getenv("TAKT_TEST_ROUNDS");
  return 100 * (factor == nullptr ? 1 : std::atoi(factor));
}

// Bytes that are allocated; what the allocator keeps for later does not count.
double allocated() {
  const auto state = mallinfo2();
  return static_cast<double>(state.uordblks) + static_cast<double>(state.hblkhd);
}

// One of everything that costs little, and many timers. `wait` is asked while all of it is there.
template <class Wait>
void round(const ::rclcpp::Node::SharedPtr& node, Wait wait) {
  std::vector<::rclcpp::TimerBase::SharedPtr> timers;
  const auto calls = std::make_shared<std::atomic<int>>(0);
  const auto group = node->create_callback_group(::rclcpp::CallbackGroupType::MutuallyExclusive);
  const auto in = node->create_subscription<Int32>(unique("churned"), 1, [](const Int32&) {});
  const auto service = node->create_service<ListParameters>(
      unique("churned_service"),
      [](const ListParameters::Request::SharedPtr, const ListParameters::Response::SharedPtr) {});
  const auto client = node->create_client<ListParameters>(unique("churned_service"));
  for (int i = 0; i < timers_a_round; ++i) {
    timers.push_back(
        node->create_wall_timer(1ms, [calls] { ++*calls; }, i % 2 == 0 ? group : nullptr));
  }
  wait(*calls);
}

TEST_F(Churn, leavesTheMemoryAsItWas) {
  const auto node = std::make_shared<::rclcpp::Node>("churn_memory");
  const auto unscheduled = [](const std::atomic<int>&) {};
  for (int i = 0; i < rounds() / 4; ++i) {
    round(node, unscheduled);
  }
  const double before = allocated();
  for (int i = 0; i < rounds(); ++i) {
    round(node, unscheduled);
  }
  const double of_rclcpp = allocated() - before;

  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  ASSERT_TRUE(eventually([&] { return !executor.callbacks().empty(); }));
  const std::size_t at_rest = executor.callbacks().size();
  const auto until_called = [&](const std::atomic<int>& calls) {
    ASSERT_TRUE(eventually([&] { return calls > 0 || spinning.has_ended(); }));
    if (spinning.has_ended()) {
      spinning.get();  // throws what has left it
    }
  };
  // What hooks of the middleware may still look at is kept for ten seconds, and goes with the next
  // that is.
  const auto rest = [&] {
    ASSERT_TRUE(eventually([&] { return executor.callbacks().size() == at_rest; }))
        << executor.callbacks().size() << " instead of " << at_rest;
    os::sleep_until(os::now() + 11s);
    round(node, until_called);
    ASSERT_TRUE(eventually([&] { return executor.callbacks().size() == at_rest; }));
  };
  for (int i = 0; i < rounds() / 4; ++i) {
    round(node, until_called);
  }
  rest();
  const double settled = allocated();
  for (int i = 0; i < rounds(); ++i) {
    round(node, until_called);
    ASSERT_FALSE(HasFatalFailure());
  }
  rest();
  const double of_takt = allocated() - settled;
  const int entities = rounds() * entities_a_round;
  std::cout << entities << " entities: " << of_takt / entities << " B each, without an executor "
            << of_rclcpp / entities << " B\n";
  // Room for what is kept once; less than a pointer and its control block for each entity.
  EXPECT_LT(of_takt, of_rclcpp + 64 * 1024 + 24.0 * entities);
}

}  // namespace
}  // namespace takt::test
