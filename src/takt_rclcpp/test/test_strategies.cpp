// SPDX-License-Identifier: Apache-2.0
//
// Scenarios that nodes bring along, and those of the executor.
#include <algorithm>
#include <map>
#include <vector>

#include "scenarios.hpp"
#include "takt/sched/error.hpp"
#include "takt/sched/policies.hpp"
#include "takt/testing/temporary.hpp"
#include "takt/trace/reader.hpp"

namespace takt::test {
namespace {

class Strategies : public WithContext {
 protected:
  // What it was refused with; empty: it was not.
  template <class Act>
  static std::string refusal(Act act) {
    try {
      act();
    } catch (const sched::ScheduleError& error) {
      return error.what();
    }
    return {};
  }
};

TEST_F(Strategies, ofNodesNameTheirOwnCallbacks) {
  const Counting guard{"guard"};
  const Counting radar{"radar"};
  SchedulingExecutor executor{quiet()};
  executor.set_scheduling_strategy(
      guard.node, strategy({scenario("cruising", {}),
                            scenario("docking", {{.task = "timer0", .active = false}})}));
  executor.set_scheduling_strategy(
      radar.node, strategy({scenario("charging", {{.task = "timer0", .active = false}})}));
  executor.add_node(guard.node);
  executor.add_node(radar.node);
  Spinning spinning{executor};
  EXPECT_TRUE(guard.goes_on());
  EXPECT_EQ(executor.scenario(), "cruising");
  EXPECT_TRUE(executor.switch_to("docking"));
  EXPECT_TRUE(rests(guard, radar));
  EXPECT_TRUE(executor.switch_to("charging"));
  EXPECT_TRUE(rests(radar, guard));
  EXPECT_FALSE(executor.switch_to("flying"));
  EXPECT_TRUE(executor.switch_to("cruising"));
  EXPECT_TRUE(radar.goes_on());
  EXPECT_TRUE(guard.goes_on());
  spinning.end();
  EXPECT_TRUE(executor.unmatched().empty());
}

// Releases and their deadlines, as the trace has them.
TEST_F(Strategies, addToThatOfTheExecutor) {
  const Counting guard{"guard"};
  const Counting radar{"radar"};
  const TemporaryFile file;
  auto options = quiet();
  options.scheduling.trace = file.path();
  {
    SchedulingExecutor executor{options};
    executor.set_scheduling_strategy(
        guard.node, strategy({scenario("docking", {{.task = "timer0", .deadline = 7ms}})}));
    SchedulingStrategy of_executor = strategy(
        {scenario("cruising", {}),
         scenario("docking", {{.task = "radar.timer0", .period = 20ms, .deadline = 5ms}})});
    executor.set_scheduling_strategy(of_executor.set_default_scenario("docking"));
    executor.add_node(guard.node);
    executor.add_node(radar.node);
    Spinning spinning{executor};
    EXPECT_TRUE(guard.goes_on());
    EXPECT_TRUE(radar.goes_on());
    EXPECT_EQ(executor.scenario(), "docking");
    spinning.end();
  }
  const trace::Trace trace = trace::read_trace(file.path());
  std::map<std::string, std::chrono::nanoseconds> due;
  std::map<std::string, std::vector<std::int64_t>> released;
  for (const trace::Event& event : trace.events) {
    if (event.type == trace::EventType::release && event.value != trace::no_deadline) {
      due[trace.tasks.at(event.task)] = std::chrono::nanoseconds{event.value - event.time};
      released[trace.tasks.at(event.task)].push_back(event.time);
    }
  }
  EXPECT_EQ(due["guard.timer0"], 7ms);
  EXPECT_EQ(due["radar.timer0"], 5ms);
  const auto& times = released["radar.timer0"];
  ASSERT_GE(times.size(), 3U);
  for (std::size_t i = 2; i < times.size(); ++i) {  // the first one may have been overdue
    EXPECT_EQ((times[i] - times[i - 1]) % 20'000'000, 0);
  }
}

// As the thesis that proposed the API has it: one strategy for nodes and executor.
TEST_F(Strategies, maySayTheSameOfAll) {
  const Counting guard{"guard"};
  const Counting radar{"radar"};
  const auto all =
      strategy({scenario("cruising", {}), scenario("docking",
                                                   {{.task = "guard.timer0", .active = false},
                                                    {.task = "radar.timer0", .priority = 30}},
                                                   sched::edf())});
  SchedulingExecutor executor{quiet()};
  executor.set_scheduling_strategy(guard.node, all);
  executor.set_scheduling_strategy(radar.node, all);
  executor.set_scheduling_strategy(all);
  executor.add_node(guard.node);
  executor.add_node(radar.node);
  Spinning spinning{executor};
  EXPECT_TRUE(guard.goes_on());
  EXPECT_TRUE(executor.switch_to("docking"));
  EXPECT_TRUE(rests(guard, radar));
}

TEST_F(Strategies, holdForNodesAsLongAsTheyAreThere) {
  const Counting radar{"radar"};
  SchedulingExecutor executor{quiet()};
  executor.add_node(radar.node);
  auto guard = std::make_unique<Counting>("guard");
  executor.set_scheduling_strategy(
      guard->node, strategy({scenario("docking", {{.task = "timer0", .active = false}}),
                             scenario("cruising", {})}));
  Spinning spinning{executor};
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(executor.switch_to("docking"));
    executor.add_node(guard->node);
    EXPECT_TRUE(eventually([&] {
      const auto names = executor.callbacks();
      return std::ranges::count(names, "guard.timer0") == 1;
    }));
    EXPECT_TRUE(rests(*guard, radar));
    EXPECT_TRUE(executor.switch_to("cruising"));
    EXPECT_TRUE(guard->goes_on());
    executor.remove_node(guard->node);
    EXPECT_TRUE(eventually(executor.when_gone()));
    // Not two of one name at once: rcl forgets publishers of their logs without destroying them.
    guard.reset();
    guard = std::make_unique<Counting>("guard");
    EXPECT_FALSE(spinning.has_ended());
  }
  spinning.end();
}

TEST_F(Strategies, thatContradictEachOtherAreRefused) {
  const auto guard = std::make_shared<rclcpp::Node>("guard");
  const auto radar = std::make_shared<rclcpp::Node>("radar");
  SchedulingExecutor executor{quiet()};
  EXPECT_EQ(refusal([&] { executor.set_scheduling_strategy(guard, {}); }),
            "the strategy of node '/guard': it has no scenarios. Fix: add at least one.");
  executor.set_scheduling_strategy(
      strategy({scenario("docking", {{.task = "guard.timer0", .priority = 9}}, sched::edf())}));
  EXPECT_EQ(
      refusal([&] { executor.set_scheduling_strategy(guard, strategy({scenario("dockin", {})})); }),
      "the strategy of node '/guard': its scenario 'dockin' is none of the executor's. "
      "Fix: did you mean 'docking'? Known: docking.");
  EXPECT_EQ(refusal([&] {
              executor.set_scheduling_strategy(
                  guard, strategy({scenario("docking", {{.task = "timer0", .priority = 8}})}));
            }),
            "scenario 'docking': the executor's strategy and the strategy of node '/guard' both "
            "say something of callback 'guard.timer0'. Fix: say it in one of them, or give both "
            "the same scenario.");
  EXPECT_EQ(refusal([&] {
              executor.set_scheduling_strategy(
                  radar, strategy({scenario("docking", {}, sched::fixed_priority())}));
            }),
            "scenario 'docking': the executor's strategy has the policy 'edf' for it, the strategy "
            "of node '/radar' 'fp'. Fix: an executor has one policy in a scenario: leave it to "
            "the executor's strategy.");
  EXPECT_EQ(refusal([&] {  // the same policy; and what was refused is forgotten
              executor.set_scheduling_strategy(radar,
                                               strategy({scenario("docking", {}, sched::edf())}));
            }),
            "");
}

TEST_F(Strategies, whatTheySayOfNoCallbackIsKnown) {
  const Counting guard{"guard"};
  SchedulingExecutor executor{quiet()};
  executor.set_scheduling_strategy(
      guard.node, strategy({scenario("docking", {{.task = "timer0", .priority = 9},
                                                 {.task = "timer7", .priority = 9}})}));
  executor.add_node(guard.node);
  Spinning spinning{executor};
  EXPECT_TRUE(guard.goes_on());
  EXPECT_TRUE(eventually([&] { return executor.unmatched().size() == 1; }));
  const auto unmatched = executor.unmatched();
  ASSERT_EQ(unmatched.size(), 1U);
  EXPECT_EQ(unmatched[0].where, "scenario 'docking', 'guard.timer7'");
  EXPECT_EQ(unmatched[0].problem, "no callback of this name yet");
  EXPECT_TRUE(unmatched[0].fix.starts_with("did you mean 'guard.timer0'?")) << unmatched[0].fix;
  EXPECT_TRUE(guard.goes_on());
}

// Also timings: callbacks of an earlier spin() are met anew.
TEST_F(Strategies, mayChangeBetweenTwoSpins) {
  const Counting guard{"guard"};
  const Counting radar{"radar"};
  SchedulingExecutor executor{quiet()};
  executor.add_node(guard.node);
  executor.add_node(radar.node);
  {
    Spinning spinning{executor};
    EXPECT_TRUE(guard.goes_on());
    EXPECT_TRUE(radar.goes_on());
  }
  executor.set_timing([](const CallbackId&) { return Timing{.priority = 30}; });
  EXPECT_FALSE(executor.snapshot().has_value());
  EXPECT_TRUE(executor.callbacks().empty());
  executor.set_scheduling_strategy(
      guard.node,
      strategy({scenario("docking", {{.task = "timer0", .active = false}}, sched::edf())}));
  {
    Spinning spinning{executor};
    EXPECT_TRUE(radar.goes_on());
    EXPECT_TRUE(rests(guard, radar));
  }
  executor.set_scheduling_strategy(guard.node, strategy({scenario("docking", {})}));
  Spinning spinning{executor};
  EXPECT_TRUE(guard.goes_on());
  EXPECT_TRUE(radar.goes_on());
}

}  // namespace
}  // namespace takt::test
