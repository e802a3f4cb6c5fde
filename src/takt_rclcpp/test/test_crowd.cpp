// SPDX-License-Identifier: Apache-2.0
//
// More nodes in one process than anybody counted on, and the cores that they share.
#include <sched.h>

#include <set>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

class Crowd : public WithContext {};

// Besides a dozen entities that each plain node has; before it spins, and while it does.
TEST_F(Crowd, moreThanAThousandCallbacksRun) {
  constexpr int before = 65;
  constexpr int nodes = 130;
  constexpr int timers_each = 8;
  SchedulingExecutor executor{quiet()};
  std::vector<rclcpp::Node::SharedPtr> members;
  std::vector<rclcpp::TimerBase::SharedPtr> timers;
  std::vector<std::atomic<int>> calls(nodes);
  const auto come = [&](int number) {
    members.push_back(std::make_shared<rclcpp::Node>("member" + std::to_string(number)));
    for (int i = 0; i < timers_each; ++i) {
      timers.push_back(members.back()->create_wall_timer(
          200ms, [&count = calls[static_cast<std::size_t>(number)]] { ++count; }));
    }
    executor.add_node(members.back());
  };
  for (int number = 0; number < before; ++number) {
    come(number);
  }
  Spinning spinning{executor};
  for (int number = before; number < nodes; ++number) {
    come(number);
    ASSERT_FALSE(spinning.has_ended()) << "at node " << number;
  }
  for (int number = 0; number < nodes; ++number) {
    const int so_far = calls[static_cast<std::size_t>(number)];
    EXPECT_TRUE(eventually([&] { return calls[static_cast<std::size_t>(number)] > so_far; }))
        << "node " << number;
  }
  EXPECT_TRUE(eventually([&] { return executor.callbacks().size() > timers_each * nodes; }))
      << executor.callbacks().size();
  EXPECT_NO_THROW(spinning.end());
}

// The cores on which the callbacks of a timer ran.
class Cores {
 public:
  void look() { used_[static_cast<std::size_t>(sched_getcpu())] = true; }
  [[nodiscard]] std::set<int> seen() const {
    std::set<int> found;
    for (std::size_t cpu = 0; cpu < used_.size(); ++cpu) {
      if (used_[cpu]) {
        found.insert(static_cast<int>(cpu));
      }
    }
    return found;
  }

 private:
  std::vector<std::atomic<bool>> used_ = std::vector<std::atomic<bool>>(CPU_SETSIZE);
};

// Where nobody says on which: two callbacks that exclude each other share one, others need not.
TEST_F(Crowd, theyShareTheCoresThatTheProcessMayUse) {
  if (os::current_thread().cpus.size() < 2) {
    GTEST_SKIP() << "this process may use one core only";
  }
  struct Member {
    rclcpp::Node::SharedPtr node;
    std::vector<rclcpp::TimerBase::SharedPtr> timers;
    Cores cores;
    std::atomic<int> calls{0};
  };
  std::vector<std::unique_ptr<Member>> members;
  for (const char* const name : {"left", "right"}) {
    auto member = std::make_unique<Member>();
    member->node = std::make_shared<rclcpp::Node>(name);
    for (int i = 0; i < 3; ++i) {
      member->timers.push_back(member->node->create_wall_timer(1ms, [&member = *member] {
        member.cores.look();
        ++member.calls;
      }));
    }
    members.push_back(std::move(member));
  }
  auto options = quiet();
  options.scheduling.cpus = {};
  SchedulingExecutor executor{options};
  for (const auto& member : members) {
    executor.add_node(member->node);
  }
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return members[0]->calls > 30 && members[1]->calls > 30; }));
  spinning.end();
  EXPECT_EQ(members[0]->cores.seen().size(), 1U);
  EXPECT_EQ(members[1]->cores.seen().size(), 1U);
  EXPECT_NE(members[0]->cores.seen(), members[1]->cores.seen());
}

// Which come and go: who comes does not stand where others are while a core is free.
TEST_F(Crowd, whoComesGetsTheCoreThatOthersHaveLeft) {
  if (os::current_thread().cpus.size() < 2) {
    GTEST_SKIP() << "this process may use one core only";
  }
  auto options = quiet();
  const auto all = os::current_thread().cpus;
  options.scheduling.cpus = {all[0], all[1]};
  SchedulingExecutor executor{options};
  const auto host = std::make_shared<rclcpp::Node>("host");
  Cores of_host;
  const auto timer = host->create_wall_timer(1ms, [&] { of_host.look(); });
  executor.add_node(host);
  Spinning spinning{executor};
  EXPECT_TRUE(eventually([&] { return !of_host.seen().empty(); }));
  for (int round = 0; round < 6; ++round) {
    const auto guest = std::make_shared<rclcpp::Node>("guest");
    const auto of_guest = std::make_shared<Cores>();
    const auto runs = guest->create_wall_timer(1ms, [of_guest] { of_guest->look(); });
    executor.add_node(guest);
    EXPECT_TRUE(eventually([&] { return !of_guest->seen().empty(); }));
    EXPECT_NE(of_guest->seen(), of_host.seen()) << "round " << round;
    executor.remove_node(guest);
    const auto is_gone = executor.when_gone();
    EXPECT_TRUE(eventually([&] { return is_gone(); }));
  }
}

}  // namespace
}  // namespace takt::test
