// SPDX-License-Identifier: Apache-2.0
//
// Robots on cores that do not provide all of their time: bounds against the simulator.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>

#include "analysis/documents.hpp"
#include "analysis/random_robots.hpp"
#include "analysis/simulated_applications.hpp"

namespace takt::analysis {
namespace {

// Each core of the first host has a supply, a latency or interrupts.
application::Application with_cores(application::Application robot, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  const auto up_to = [&](std::uint64_t most) { return static_cast<std::int64_t>(random() % most); };
  std::set<int> known;
  for (const application::Process& process : robot.processes) {
    if (process.host != robot.processes.front().host || !known.insert(process.cpu).second) {
      continue;
    }
    application::Core core{.cpu = process.cpu};
    if (up_to(3) > 0) {
      core.supply = {.budget = 800us, .period = 1000us};
    } else if (up_to(2) > 0) {
      core.supply = {.rate = 900'000'000, .delay = 500us};
    }
    core.latency = std::chrono::microseconds{up_to(50)};
    if (up_to(2) > 0) {
      core.interrupts = {{.period = 500us, .duration = 20us, .burst = 1 + up_to(3)}};
    }
    robot.cores.push_back(core);
  }
  return robot;
}

TEST(robots_supply, nothing_is_above_its_bound) {
  Tally tally;
  const std::uint64_t end = first_seed() + static_cast<std::uint64_t>(rounds(400));
  for (std::uint64_t seed = first_seed(); seed < end && !HasFailure(); ++seed) {
    hold_against_simulations(with_cores(random_robot(seed), seed), seed, tally);
  }
  EXPECT_GT(tally.accepted, rounds(40));
  EXPECT_GT(tally.bounded, rounds(800));
  EXPECT_GT(tally.chains, rounds(80));
}

std::string on(const std::string& cores) {
  return app(
      "{'name': 'act', 'process': 'control', 'period': 10, 'priority': 1, "
      "'execution': {'worst': 3}}, {'name': 'plan', 'process': 'vision', 'period': 60, "
      "'priority': 1, 'execution': {'worst': 5}}",
      ", 'processes': [{'name': 'control', 'cpu': 0, 'priority': 80}, "
      "{'name': 'vision', 'cpu': 0, 'priority': 40}]" +
          cores);
}

// None for 4, then 8 of 10. act runs from 4 to 7 and, after the gap at 12, until 15; plan from 7 to
// 10, and until 17.
TEST(robots_supply, both_processes_of_a_core_have_what_it_provides) {
  const std::string text = on(", 'cores': [{'cpu': 0, 'supply': {'budget': 8, 'period': 10}}]");
  const ScenarioReport scenario = analyse_json(text).scenarios.front();
  EXPECT_EQ(callback(scenario, "act").response, nanoseconds{4 + 3});
  EXPECT_EQ(callback(scenario, "plan").response, nanoseconds{17});
  const sim::Result run = sim::simulate(parsed(text), {.duration = nanoseconds{600}});
  EXPECT_EQ(run.callbacks[0].response.max, nanoseconds{4 + 3});
  EXPECT_EQ(run.callbacks[1].response.max, nanoseconds{17});
}

// Two come at once, while plan waits for act.
TEST(robots_supply, an_interrupt_holds_up_the_process_that_has_to_wait_too) {
  const std::string text =
      on(", 'cores': [{'cpu': 0, 'interrupts': [{'period': 60, 'duration': 1, 'burst': 2}]}]");
  const ScenarioReport scenario = analyse_json(text).scenarios.front();
  EXPECT_EQ(callback(scenario, "act").response, nanoseconds{3 + 2});
  EXPECT_EQ(callback(scenario, "plan").response, nanoseconds{3 + 2 + 5});
  const sim::Result run = sim::simulate(parsed(text), {.duration = nanoseconds{600}});
  EXPECT_EQ(run.callbacks[0].response.max, nanoseconds{3 + 2});
  EXPECT_EQ(run.callbacks[1].response.max, nanoseconds{3 + 2 + 5});
}

TEST(robots_supply, a_core_is_that_of_its_host) {
  const std::string supply = "{'cpu': 0, 'host': 'two', 'supply': {'budget': 8, 'period': 10}}";
  const auto robot = [](const std::string& cores) {
    return app(
        "{'name': 'act', 'process': 'a', 'period': 10, 'priority': 1, 'execution': "
        "{'worst': 3}}, {'name': 'plan', 'process': 'b', 'period': 60, 'priority': 1, "
        "'execution': {'worst': 3}}",
        ", 'processes': [{'name': 'a', 'host': 'one', 'priority': 80}, "
        "{'name': 'b', 'host': 'two', 'priority': 80}], 'cores': [" +
            cores + "]");
  };
  const Report report = analyse_json(robot(supply));
  EXPECT_EQ(callback(report.scenarios.front(), "act").response, nanoseconds{3});
  EXPECT_EQ(callback(report.scenarios.front(), "plan").response, nanoseconds{4 + 3});
  EXPECT_TRUE(contains(report.remarks, "the declared supply of core 0, of host 'two'"));
  EXPECT_ANY_THROW(parsed(robot(supply + ", " + supply))) << "described twice";
  EXPECT_ANY_THROW(parsed(robot("{'cpu': 1, 'host': 'two', 'latency': 1}"))) << "of no process";
}

}  // namespace
}  // namespace takt::analysis
