// SPDX-License-Identifier: Apache-2.0
//
// What is proposed for the processes of a robot guarantees more than what is described.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/documents.hpp"
#include "analysis/random_robots.hpp"

namespace takt::analysis {
namespace {

const Options proposals_only{.sensitivity = false};

// act has 4 ticks, of which it needs 3; see needs 8 of 30, and log by default 9 of 18.
std::string robot(const std::string& act, const std::string& see, const std::string& log,
                  int log_worst = 9) {
  return app(
      "{'name': 'act', 'process': 'control', 'period': 10, 'deadline': 4, 'priority': 1, "
      "'execution': {'worst': 3}}, "
      "{'name': 'see', 'process': 'vision', 'period': 30, 'priority': 1, 'execution': "
      "{'worst': 8}}, "
      "{'name': 'log', 'process': 'disk', 'period': 18, 'priority': 1, "
      "'execution': {'worst': " +
          std::to_string(log_worst) + "}}",
      ", 'processes': [{'name': 'control', " + act + "}, {'name': 'vision', " + see +
          "}, {'name': 'disk', " + log + "}]");
}

std::vector<application::Process> proposed(const std::string& document) {
  return analyse(parsed(document), proposals_only).scenarios.front().processes;
}

Verdict verdict_with(const std::string& document, std::vector<application::Process> processes) {
  application::Application changed = parsed(document);
  changed.processes = std::move(processes);
  return analyse(changed, {.sensitivity = false, .proposals = false}).verdict;
}

TEST(RobotProposals, do_not_change_what_guarantees_everything) {
  EXPECT_TRUE(proposed(robot("'cpu': 0, 'priority': 80", "'cpu': 0, 'priority': 40",
                             "'cpu': 1, 'priority': 40"))
                  .empty());
}

TEST(RobotProposals, put_the_process_of_the_shorter_deadline_above) {
  const std::string document =
      robot("'cpu': 0, 'priority': 40", "'cpu': 0, 'priority': 80", "'cpu': 1, 'priority': 40");
  const auto found = proposed(document);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].cpu, found[1].cpu);
  EXPECT_GT(found[0].priority, found[1].priority);
  EXPECT_EQ(verdict_with(document, found), Verdict::meets);
}

// log needs nearly all of a core, and both of the others fit on the other one.
TEST(RobotProposals, move_a_process_to_another_core) {
  const std::string document =
      robot("'cpu': 0, 'priority': 80", "'cpu': 1, 'priority': 40", "'cpu': 0, 'priority': 20", 16);
  const auto found = proposed(document);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].cpu, found[1].cpu);
  EXPECT_NE(found[0].cpu, found[2].cpu);
  EXPECT_EQ(verdict_with(document, found), Verdict::meets);
}

int kept(const Report& report) {
  const ScenarioReport& scenario = report.scenarios.front();
  return static_cast<int>(
      std::ranges::count(scenario.callbacks, Verdict::meets, &CallbackReport::verdict) +
      std::ranges::count_if(scenario.chains, [](const ChainReport& chain) {
        return chain.max_latency && chain.verdict == Verdict::meets;
      }));
}

TEST(RobotProposals, guarantee_more_limits_of_random_robots) {
  int better = 0;
  const std::uint64_t end = first_seed() + static_cast<std::uint64_t>(rounds(100));
  for (std::uint64_t seed = first_seed(); seed < end; ++seed) {
    application::Application robot = random_robot(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + describe_robot(robot));
    const Report report = analyse(robot, proposals_only);
    const auto& found = report.scenarios.front().processes;
    if (found.empty()) {
      continue;
    }
    ++better;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].name, robot.processes[i].name);
      if (robot.processes[i].policy.starts_with("rclcpp")) {
        EXPECT_EQ(found[i].policy, robot.processes[i].policy);
      }
    }
    robot.processes = found;
    EXPECT_GT(kept(analyse(robot, {.sensitivity = false, .proposals = false})), kept(report));
  }
  EXPECT_GT(better, rounds(10));
}

}  // namespace
}  // namespace takt::analysis
