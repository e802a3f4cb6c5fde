// SPDX-License-Identifier: Apache-2.0
//
// Entities that come and go without end leave the executor as it was. By hand: TAKT_TEST_ROUNDS
// makes and destroys so many times as many (50: fifty thousand a stretch).
#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
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

int rounds_a_stretch() {
  const char* const factor = std::getenv("TAKT_TEST_ROUNDS");
  return 50 * (factor == nullptr ? 1 : std::atoi(factor));
}

// Bytes that are allocated; what the allocator keeps for later does not count.
double allocated() {
  const auto state = mallinfo2();
  return static_cast<double>(state.uordblks) + static_cast<double>(state.hblkhd);
}

// What has gone is given back by other threads, in their time.
double settled() {
  double least = allocated();
  for (int looks = 0; looks < 100; ++looks) {
    os::sleep_until(os::now() + 10ms);
    least = std::min(least, allocated());
  }
  return least;
}

// One of everything that costs little, and many timers. `wait` is asked while all of it is there.
template <class Wait>
void round(const rclcpp::Node::SharedPtr& node, Wait wait) {
  std::vector<rclcpp::TimerBase::SharedPtr> timers;
  const auto calls = std::make_shared<std::atomic<int>>(0);
  const auto group = node->create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
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

constexpr std::size_t stretches = 3;

// What each of the stretches of as many rounds left behind, in ascending order. What is kept once,
// such as room for more callbacks at the same time than before, comes in one stretch; what leaks
// comes in each, and so in the least.
template <class Round, class Rest>
std::array<double, stretches> left_behind(Round one_round, Rest rest) {
  std::array<double, stretches> left{};
  double before = settled();
  for (double& of_stretch : left) {
    for (int i = 0; i < rounds_a_stretch(); ++i) {
      one_round();
    }
    rest();
    const double after = settled();
    of_stretch = after - before;
    before = after;
  }
  std::cout << rounds_a_stretch() * entities_a_round << " entities left";
  for (const double of_stretch : left) {
    std::cout << ' ' << of_stretch << " B";
  }
  std::cout << '\n';
  std::ranges::sort(left);
  return left;
}

TEST_F(Churn, leavesTheMemoryAsItWas) {
  const auto node = std::make_shared<rclcpp::Node>("churn_memory");
  const auto unscheduled = [&] { round(node, [](const std::atomic<int>&) {}); };
  for (int i = 0; i < rounds_a_stretch() / 2; ++i) {
    unscheduled();
  }
  const double of_rclcpp = left_behind(unscheduled, [] {})[stretches / 2];

  SchedulingExecutor executor{quiet()};
  executor.add_node(node);
  Spinning spinning{executor};
  ASSERT_TRUE(eventually([&] { return !executor.callbacks().empty(); }));
  const std::size_t at_rest = executor.callbacks().size();
  const auto scheduled = [&] {
    round(node, [&](const std::atomic<int>& calls) {
      EXPECT_TRUE(eventually([&] { return calls > 0 || spinning.has_ended(); }));
      if (spinning.has_ended()) {
        spinning.get();  // throws what has left it
      }
    });
  };
  // What hooks of the middleware may still look at is kept for ten seconds, and goes with the next
  // that is.
  const auto rest = [&] {
    const auto rests = [&] { return executor.callbacks().size() == at_rest; };
    EXPECT_TRUE(eventually(rests)) << executor.callbacks().size() << " instead of " << at_rest;
    os::sleep_until(os::now() + 11s);
    scheduled();
    EXPECT_TRUE(eventually(rests));
  };
  for (int i = 0; i < rounds_a_stretch() / 2; ++i) {
    scheduled();
  }
  rest();
  const double of_takt = left_behind(scheduled, rest).front();
  // Less than a pointer for each entity; a few pages are the allocator's and the middleware's own.
  EXPECT_LT(of_takt, of_rclcpp + 16.0 * 1024 + 8.0 * rounds_a_stretch() * entities_a_round);
}

}  // namespace
}  // namespace takt::test
