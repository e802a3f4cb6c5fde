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

// In us: see computes for 2000 of 40000 in a reservation, above act with 3000 of 10000.
std::string reserved(int runtime, int deadline, int period, int act_deadline) {
  const auto us = [](int time) { return std::to_string(time * 1000); };
  return app("{'name': 'see', 'process': 'vision', 'period': " + us(40'000) + ", 'deadline': " +
                 us(20'000) + ", 'priority': 1, 'execution': {'worst': " + us(2000) +
                 "}}, {'name': 'act', 'process': 'control', 'period': " + us(10'000) +
                 ", 'deadline': " + us(act_deadline) +
                 ", 'priority': 1, 'execution': {'worst': " + us(3000) + "}}",
             ", 'processes': [{'name': 'vision', 'policy': 'np-fp', 'cpu': 0, 'reservation': "
             "{'runtime': " +
                 us(runtime) + ", 'deadline': " + us(deadline) + ", 'period': " + us(period) +
                 "}}, {'name': 'control', 'cpu': 0, 'priority': 40}]");
}

void expect_smallest(const std::string& document) {
  auto found = proposed(document);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(verdict_with(document, found), Verdict::meets);
  application::Reservation& reservation = *found[0].reservation;
  EXPECT_LE(reservation.runtime, reservation.deadline);
  EXPECT_LE(reservation.deadline, reservation.period);
  reservation.runtime -= reservation.period / 1000;
  EXPECT_NE(verdict_with(document, std::move(found)), Verdict::meets);
}

TEST(RobotProposals, give_a_reservation_the_smallest_budget_that_guarantees_all) {
  const std::string document = reserved(3000, 10'000, 10'000, 10'000);
  ASSERT_EQ(verdict_with(document, parsed(document).processes), Verdict::meets);
  expect_smallest(document);
  const application::Reservation found = *proposed(document)[0].reservation;
  EXPECT_LT(found.runtime * 10 / 2, found.period);  // less than a fifth of the core
}

TEST(RobotProposals, give_a_reservation_that_is_too_small_what_it_needs) {
  const std::string document = reserved(200, 5000, 10'000, 10'000);
  ASSERT_NE(verdict_with(document, parsed(document).processes), Verdict::meets);
  expect_smallest(document);
}

TEST(RobotProposals, leave_to_processes_below_a_reservation_what_they_need) {
  const std::string document = reserved(8000, 10'000, 10'000, 6000);
  ASSERT_NE(verdict_with(document, parsed(document).processes), Verdict::meets);
  expect_smallest(document);
}

TEST(RobotProposals, keep_a_reservation_that_nothing_smaller_replaces) {
  const std::string described = reserved(3000, 10'000, 10'000, 10'000);
  application::Application smallest = parsed(described);
  smallest.processes = proposed(described);
  EXPECT_TRUE(analyse(smallest, proposals_only).scenarios.front().processes.empty());
}

int kept(const Report& report) {
  const ScenarioReport& scenario = report.scenarios.front();
  return static_cast<int>(
      (report.verdict == Verdict::meets ? 1 : 0) +  // with ages
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
