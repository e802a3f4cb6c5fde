// SPDX-License-Identifier: Apache-2.0
//
// Joins in robots of several processes: what a join waits for, and who reads what it publishes, may
// be in another process.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>

#include "../analysis/documents.hpp"
#include "random_joins.hpp"

namespace takt::analysis {
namespace {

constexpr std::array policies = {"fp",           "np-fp", "edf", "np-edf", "rclcpp_single_threaded",
                                 "rclcpp_events"};

// A random application with joins, its nodes in two or three processes.
application::Application random_robot(std::uint64_t seed) {
  application::Application robot = RandomJoins{seed}.make("fp");
  RandomTasks random{seed};
  const std::int64_t processes = random.number(2, 3);
  const std::int64_t cores = random.number(1, 2);
  robot.cpus = {0};
  for (std::int64_t i = 0; i < processes; ++i) {
    robot.processes.push_back(
        {.name = "p" + std::to_string(i),
         .policy = policies.at(static_cast<std::size_t>(random.number(0, policies.size() - 1))),
         .cpu = static_cast<int>(random.number(0, cores - 1)),
         .priority = static_cast<int>((i * 7 + random.number(0, 2) * 20) % 60 + 1)});
  }
  const std::int64_t most = random.chance(0.7) ? random.number(0, 12) : 0;
  robot.handover = {.least = nanoseconds{random.number(0, most)}, .most = nanoseconds{most}};
  std::map<std::string, std::size_t> places;
  for (application::Callback& callback : robot.callbacks) {
    const auto drawn = static_cast<std::size_t>(random.number(0, processes - 1));
    callback.process = places.try_emplace(callback.node, drawn).first->second;
    callback.task.cpu = -1;
    for (sched::Read& read : callback.task.reads) {
      read.max_age = nanoseconds{0};  // which robots do not keep
    }
  }
  return robot;
}

std::string describe_robot(const application::Application& robot) {
  std::string text = describe(robot) + "handover " + std::to_string(robot.handover.least.count()) +
                     ".." + std::to_string(robot.handover.most.count()) + "\n";
  for (const application::Process& process : robot.processes) {
    text += process.name + " " + process.policy + " cpu " + std::to_string(process.cpu) +
            " priority " + std::to_string(process.priority) + "\n";
  }
  for (const application::Callback& callback : robot.callbacks) {
    text += callback.task.name + " in " + std::to_string(callback.process) + "\n";
  }
  return text;
}

// Whether data of the chain goes through a join in one process to or from another process.
bool crosses(const application::Application& robot, const ChainReport& chain) {
  bool joined = false;
  bool elsewhere = false;
  std::size_t first = robot.processes.size();
  for (const std::string& name : chain.callbacks) {
    const auto callback = std::ranges::find_if(
        robot.callbacks, [&](const auto& one) { return one.task.name == name; });
    if (callback == robot.callbacks.end()) {
      continue;  // a subscription of its own
    }
    first = first == robot.processes.size() ? callback->process : first;
    elsewhere = elsewhere || callback->process != first;
    joined = joined || (!callback->join.empty() && name != chain.callbacks.back());
  }
  return joined && elsewhere;
}

TEST(JoinsOfRobots, are_within_their_bounds) {
  Tally tally;
  int crossing = 0;
  double tightness = 0;
  const int sets = rounds(400);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const application::Application robot = random_robot(seed);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + describe_robot(robot));
    const Report all = analyse(robot, {.sensitivity = false, .proposals = false});
    const ScenarioReport& report = all.scenarios.front();
    tally.accepted += report.deadlines == Verdict::meets ? 1 : 0;
    for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
      const sim::Result run = sim::simulate(robot, {.duration = nanoseconds{3000},
                                                    .seed = seed,
                                                    .execution = execution,
                                                    .percentiles = false});
      compare(report, run, tally);
      for (std::size_t chain = 0; chain < report.chains.size(); ++chain) {
        const auto& bound = report.chains[chain].latency;
        if (bound && run.chains[chain].latency.count > 0 && crosses(robot, report.chains[chain])) {
          ++crossing;
          tightness += static_cast<double>(run.chains[chain].latency.max.count()) /
                       static_cast<double>(bound->count());
        }
      }
    }
  }
  std::cout << sets << " robots, " << tally.accepted << " accepted, " << tally.responses
            << " responses, " << crossing << " latencies through joins across processes ("
            << tightness / std::max(1, crossing) << " of their bounds)\n";
  EXPECT_GT(tally.responses, sets * 4);
  EXPECT_GT(crossing, sets / 2);
}

// left and right, of another process each, every 100 and 60 ticks; the join has a process of its
// own, and so has who reads what it publishes.
application::Application fusion(const std::string& more = "") {
  const std::string input =
      ", 'node': 'fusion', 'join': 'both', 'writes': ['fused'], 'kind': "
      "'message', 'overrun': 'catch_up', 'deadline': 50, 'priority': 1, "
      "'process': 'fuse', 'execution': {'worst': 2}, 'trigger': ";
  return parsed(app(
      "{'name': 'left', 'process': 'l', 'period': 100, 'priority': 1, 'execution': {'worst': 5}, "
      "'writes': ['a']}, {'name': 'right', 'process': 'r', 'period': 60, 'priority': 1, "
      "'execution': {'worst': 5}, 'writes': ['b']}, "
      "{'name': 'fusion.a'" +
          input + "'a'}, {'name': 'fusion.b'" + input +
          "'b'}, "
          "{'name': 'act', 'process': 'act', 'kind': 'message', 'trigger': 'fused', 'overrun': "
          "'catch_up', 'deadline': 50, 'priority': 1, 'execution': {'worst': 3}}",
      ", 'topics': [{'name': 'a', 'depth': 9}, {'name': 'b', 'depth': 9}, {'name': 'fused', "
      "'depth': 9}], 'handover': {'least': 0, 'most': 4}, 'processes': ["
      "{'name': 'l', 'cpu': 0, 'priority': 40}, {'name': 'r', 'cpu': 1, 'priority': 40}, "
      "{'name': 'fuse', 'policy': 'np-fp', 'cpu': 2, 'priority': 40}, "
      "{'name': 'act', 'cpu': 3, 'priority': 40}], "
      "'chains': [{'name': 'stop', 'callbacks': ['left', 'fusion.a', 'act']}]" +
          more));
}

// The join publishes as often as left comes, not as often as one of both.
TEST(JoinsOfRobots, release_readers_as_often_as_the_rarest_of_their_callbacks) {
  const Report report = analyse(fusion());
  EXPECT_EQ(callback(report.scenarios.front(), "act").period, nanoseconds{100});
}

// In fuse: behind the other callback, 2 ticks; its own 2; then until the other one has ended, at
// most a period of right, the handover, and what that one may take longer than its best, 2.
TEST(JoinsOfRobots, wait_for_messages_of_another_process_as_a_term_of_the_latency) {
  const Report report = analyse(fusion());
  const ChainReport& chain = report.scenarios.front().chains.front();
  ASSERT_TRUE(chain.latency) << chain.bound_by;
  EXPECT_EQ(chain.bound_by, "l 5 ns + handover 4 ns + fuse 70 ns + handover 4 ns + act 3 ns");
  EXPECT_EQ(chain.latency, nanoseconds{5 + 4 + (2 + 2 + 60 + 4 + 2) + 4 + 3});
}

}  // namespace
}  // namespace takt::analysis
