// SPDX-License-Identifier: Apache-2.0
//
// Scenarios that are set while the executor runs.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../policies.hpp"
#include "support.hpp"
#include "takt/sched/error.hpp"

namespace takt::test {
namespace {

using sched::SchedulingScenario;
using sched::SchedulingStrategy;

class Strategy : public TracedUnderPolicy {};

INSTANTIATE_TEST_SUITE_P(Policies, Strategy, ::testing::Values("fp", "edf", "np-fp"), policy_name);

// The trace has which deadline each job was released with.
TEST_P(Strategy, SaysOtherThingsOfTasksWhileTheyRun) {
  const auto strategy = [](std::chrono::nanoseconds deadline, int priority) {
    return SchedulingStrategy{}
        .add_scenario(SchedulingScenario{"cruising"})
        .add_scenario(SchedulingScenario{"docking"}.add_task(
            {.task = "brake", .priority = priority, .deadline = deadline}));
  };
  Executor executor{options()};
  executor.add(timer("steady", 2ms, 40), {[](const auto&) { burn(50us); }});
  executor.add(timer("brake", 5ms, 20), {[](const auto&) {}});
  executor.set_scheduling_strategy(strategy(4ms, 30));
  executor.start();
  const auto more = [&] {
    const std::uint64_t before = executor.statistics(1).completed;
    return eventually([&] { return executor.statistics(1).completed > before + 3; });
  };
  ASSERT_TRUE(more());
  EXPECT_TRUE(executor.switch_to("docking"));
  ASSERT_TRUE(more());
  std::thread{[&] { executor.set_scheduling_strategy(strategy(3ms, 90)).wait(); }}.join();
  ASSERT_TRUE(more());
  EXPECT_THROW(executor.set_scheduling_strategy(
                   SchedulingStrategy{}
                       .add_scenario(SchedulingScenario{"cruising"})
                       .add_scenario(SchedulingScenario{"docking"}.add_task({.task = "nobody"}))),
               sched::ScheduleError);
  ASSERT_TRUE(more());
  EXPECT_TRUE(executor.switch_to("cruising"));
  ASSERT_TRUE(more());
  executor.stop();
  const trace::Trace trace = trace::read_trace(file_.path());
  std::vector<std::int64_t> deadlines;
  for (const trace::Event& event : trace.events) {
    if (event.type == trace::EventType::release && trace.tasks.at(event.task) == "brake" &&
        (deadlines.empty() || deadlines.back() != event.value - event.time)) {
      deadlines.push_back(event.value - event.time);
    }
  }
  EXPECT_EQ(deadlines, (std::vector<std::int64_t>{5'000'000, 4'000'000, 3'000'000, 5'000'000}));
}

TEST_P(Strategy, LeavesTheScenarioThatWasSwitchedToBeforeTheStart) {
  const auto strategy = [](const char* first, int priority) {
    return SchedulingStrategy{}
        .add_scenario(SchedulingScenario{"cruising"})
        .add_scenario(
            SchedulingScenario{"docking"}.add_task({.task = "brake", .priority = priority}))
        .set_default_scenario(first);
  };
  Executor executor{options()};
  executor.add(timer("brake", 5ms, 20), {[](const auto&) {}});
  executor.set_scheduling_strategy(strategy("cruising", 30));
  EXPECT_TRUE(executor.switch_to("docking"));
  executor.set_scheduling_strategy(strategy("cruising", 40));
  EXPECT_EQ(executor.scenario(), "docking");
  EXPECT_TRUE(executor.switch_to("cruising"));
  executor.set_scheduling_strategy(strategy("docking", 40));
  EXPECT_EQ(executor.scenario(), "docking");
}

TEST_P(Strategy, HasItsScenariosSettledWhileTheExecutorRuns) {
  const SchedulingStrategy two = SchedulingStrategy{}
                                     .add_scenario(SchedulingScenario{"cruising"})
                                     .add_scenario(SchedulingScenario{"docking"});
  Executor executor{options()};
  executor.add(timer("brake", 5ms, 20), {[](const auto&) {}});
  executor.set_scheduling_strategy(two);
  executor.start();
  const auto refused = [&](const SchedulingStrategy& strategy) {
    try {
      executor.set_scheduling_strategy(strategy);
    } catch (const std::logic_error& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  const auto with = [](const std::string& first, SchedulingScenario second) {
    return SchedulingStrategy{}
        .add_scenario(SchedulingScenario{first})
        .add_scenario(std::move(second));
  };
  const auto says = [](const std::string& what) {
    return "set_scheduling_strategy: the executor has been started, and " + what +
           "; stop() it first";
  };
  EXPECT_EQ(refused(with("cruising", SchedulingScenario{"flying"})),
            says("scenario 'flying' is new, or in another place among them"));
  EXPECT_EQ(refused(SchedulingStrategy{}.add_scenario(SchedulingScenario{"cruising"})),
            says("scenario 'docking' is missing"));
  EXPECT_EQ(refused(with("cruising", SchedulingScenario{"docking"}.set_scheduling_policy(
                                         sched::non_preemptive_fixed_priority()))),
            says("scenario 'docking' has another policy"));
  EXPECT_EQ(
      refused(with("cruising",
                   SchedulingScenario{"docking"}.add_task({.task = "brake", .writes = {"map"}}))),
      "set_scheduling_strategy: the executor has been started, and task 'brake' would have other "
      "topics; name them where it is added, or stop() the executor first");
  EXPECT_EQ(refused(two), "");
  executor.stop();
  EXPECT_EQ(refused(with("cruising", SchedulingScenario{"flying"})), "");
  Executor without{options()};
  without.add(timer("brake", 5ms, 20), {[](const auto&) {}});
  without.start();
  EXPECT_THROW(without.set_scheduling_strategy(two), std::logic_error);
  without.stop();
}

}  // namespace
}  // namespace takt::test
