// SPDX-License-Identifier: Apache-2.0
//
// Tiny robots in the simulator against their bounds: with each offset of their timers, each
// executor in the process that sees, and a controller above it or on a core of its own.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "analysis/documents.hpp"
#include "analysis/random_tasks.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

constexpr std::array executors = {
    "'executor': 'rclcpp_single_threaded', 'cpu': 0",
    "'executor': 'rclcpp_events', 'cpu': 0",
    "'policy': 'np-fp', 'cpu': 0",
    "'policy': 'np-edf', 'cpu': 0",
    "'policy': 'fp', 'cpu': 0",
    "'policy': 'edf', 'cpu': 0",
    "'executor': 'rclcpp_multi_threaded', 'cpus': [0, 1]",
    "'executor': 'rclcpp_events_cbg', 'cpus': [0, 1]",
};
constexpr int first_with_threads = 6;
constexpr int act_period = 6;
constexpr int map_period = 18;

// What the robots differ in.
struct Tiny {
  int executor = 0;
  std::array<int, 3> worst = {};  // grab, detect, map
  int handover = 0;
  bool same_core = true;
};

Tiny tiny(int number) {
  Tiny result;
  for (int& worst : result.worst) {
    worst = 1 + number % 2;
    number /= 2;
  }
  result.handover = number % 2 * 3;
  number /= 2;
  result.same_core = number % 2 == 0;
  result.executor = number / 2;
  return result;
}

constexpr int robots = 2 * 2 * 2 * 2 * 2 * static_cast<int>(executors.size());

std::string document(const Tiny& robot, int map_offset, int act_offset) {
  const auto in = [](const std::string& process) { return ", 'process': '" + process + "'"; };
  const auto offset = [](int time) { return ", 'offset': " + std::to_string(time); };
  return app(
      timer("grab", 12, robot.worst[0], 2, in("vision") + ", 'writes': ['image']") + ", " +
          message("detect", "image", robot.worst[1], 1,
                  in("vision") + ", 'deadline': 12, 'writes': ['obstacle']") +
          ", " + timer("map", map_period, robot.worst[2], 3, in("vision") + offset(map_offset)) +
          ", " +
          timer("act", act_period, 1, 1,
                in("control") + offset(act_offset) + ", 'reads': [{'topic': 'obstacle'}]") +
          ", " + message("brake", "obstacle", 1, 2, in("control") + ", 'deadline': 12"),
      ", 'topics': [{'name': 'image', 'depth': 4}, {'name': 'obstacle', 'depth': 4}]"
      ", 'processes': [{'name': 'vision', 'priority': 40, " +
          std::string{executors.at(static_cast<std::size_t>(robot.executor))} +
          "}, {'name': 'control', 'policy': 'fp', 'cpu': " + (robot.same_core ? "0" : "1") +
          ", 'priority': 80}], 'handover': {'least': 0, 'most': " + std::to_string(robot.handover) +
          "}, 'chains': [{'name': 'stop', 'callbacks': ['grab', 'detect', 'brake']}, "
          "{'name': 'look', 'callbacks': ['grab', 'detect', 'act']}]");
}

struct Reached {
  int callbacks = 0;
  int chains = 0;
  int reactions = 0;
  int ages = 0;
};

void compare_run(const application::Application& robot, Reached& reached) {
  const Report report = analyse(robot, {.sensitivity = false});
  const ScenarioReport& bounds = report.scenarios.front();
  const sim::Result played =
      sim::simulate(robot, {.duration = nanoseconds{100}, .percentiles = false});
  for (const sim::CallbackResult& one : played.callbacks) {
    const auto& bound = callback(bounds, one.name).response;
    ASSERT_TRUE(bound) << one.name;
    EXPECT_LE(one.response.max, *bound) << one.name;
    reached.callbacks += one.response.max == *bound ? 1 : 0;
  }
  for (std::size_t i = 0; i < played.chains.size(); ++i) {
    const ChainReport& bound = bounds.chains[i];
    const sim::ChainResult& one = played.chains[i];
    ASSERT_TRUE(bound.latency && bound.reaction && bound.age) << bound.name;
    EXPECT_LE(one.latency.max, *bound.latency) << bound.name;
    EXPECT_LE(one.reaction.max, *bound.reaction) << bound.name;
    EXPECT_LE(one.age.max, *bound.age) << bound.name;
    reached.chains += one.latency.max == *bound.latency ? 1 : 0;
    reached.reactions += one.reaction.max == *bound.reaction ? 1 : 0;
    reached.ages += one.age.max == *bound.age ? 1 : 0;
  }
}

TEST(tiny_robots, no_offset_leads_above_a_bound) {
  Reached reached;
  const int step = rounds(5) < 5 ? 5 : 1;  // every one; each fifth where fewer rounds are wanted
  for (int number = 0; number < robots && !HasFailure(); number += step) {
    const Tiny robot = tiny(number);
    const int next =
        robot.executor < first_with_threads ? 1 : 5;  // a fifth of them: they take long
    for (int offsets = 0; offsets < map_period * act_period && !HasFailure(); offsets += next) {
      const std::string text = document(robot, offsets / act_period, offsets % act_period);
      SCOPED_TRACE(text);
      compare_run(parsed(text), reached);
    }
  }
  EXPECT_GT(reached.callbacks, 30'000 / step);
  EXPECT_GT(reached.chains, 4'000 / step);
  EXPECT_GT(reached.reactions, 3'000 / step);
  EXPECT_GT(reached.ages, 5'000 / step);
}

// The image is published when grab ends: what has delayed grab does not delay detect once more.
TEST(tiny_robots, what_delays_a_chain_in_a_process_counts_once) {
  const Tiny robot{.executor = 0, .worst = {2, 2, 2}};
  const Report report = analyse(parsed(document(robot, 0, 0)));
  const ChainReport& chain = report.scenarios.front().chains.front();
  // In vision map, grab and detect once each, with act and brake twice each; then brake.
  EXPECT_EQ(chain.latency, nanoseconds{3 * 2 + 2 * 1 + 2 * 1 + 1});
}

// plan delays an image, and the next one comes 4 ticks later: how long grab responds is only known
// once plan's process, which comes after it in the description, has been looked at.
TEST(tiny_robots, what_a_later_process_delays_comes_to_a_third_one) {
  const auto in = [](const std::string& process) { return ", 'process': '" + process + "'"; };
  const std::string text = app(
      timer("grab", 12, 1, 1, in("vision") + ", 'writes': ['image']") + ", " +
          timer("plan", 24, 8, 1, in("above")) + ", " +
          message("brake", "image", 2, 2, in("control") + ", 'deadline': 12") + ", " +
          timer("slow", 24, 3, 1, in("control") + ", 'offset': 9"),
      ", 'topics': [{'name': 'image', 'depth': 4}], 'processes': [{'name': 'vision', 'policy': "
      "'fp', 'cpu': 1, 'priority': 40}, {'name': 'above', 'policy': 'fp', 'cpu': 1, 'priority': "
      "80}, {'name': 'control', 'policy': 'fp', 'cpu': 0, 'priority': 60}]");
  const sim::Result run = sim::simulate(parsed(text), {.duration = nanoseconds{48}});
  EXPECT_EQ(run.callbacks.back().response.max, nanoseconds{3 + 2 * 2});
  EXPECT_EQ(callback(analyse_json(text).scenarios.front(), "slow").response,
            nanoseconds{3 + 2 * 2});
}

// Each release of a process above is noticed on the core, too.
TEST(tiny_robots, a_job_of_a_process_above_takes_the_core_for_its_release_too) {
  const std::string text =
      app(timer("high", 12, 2, 1, ", 'process': 'high'") + ", " +
              timer("low", 60, 20, 1, ", 'process': 'low'"),
          ", 'overheads': {'release': 2}, 'processes': [{'name': 'high', 'policy': 'fp', 'cpu': 0, "
          "'priority': 80}, {'name': 'low', 'policy': 'fp', 'cpu': 0, 'priority': 40}]");
  const sim::Result run = sim::simulate(parsed(text), {.duration = nanoseconds{60}});
  EXPECT_EQ(run.callbacks.back().response.max, nanoseconds{20 + 2 + 3 * (2 + 2)});
  EXPECT_EQ(callback(analyse_json(text).scenarios.front(), "low").response,
            nanoseconds{20 + 2 + 3 * (2 + 2)});
}

// top keeps a thread of seat from core 1 while it runs brake. steer waits for brake in its group,
// while low has core 0 to itself. Then both of steer's jobs come to core 0, one right after the
// other.
std::string moved(const std::string& executor, int top, int steer, int low, int delay) {
  const auto in = [](const std::string& process) { return ", 'process': '" + process + "'"; };
  const auto offset = [](int time) { return ", 'offset': " + std::to_string(time); };
  const int end = top + 2;  // of brake
  return app(
      timer("top", 120, top, 1, in("top") + offset(1)) + ", " +
          timer("lamp", 120, 2, 1, in("seat")) + ", " +
          timer("brake", 120, 2, 1, in("seat") + ", 'node': 'wheels', 'group': 'g'") + ", " +
          timer("steer", 24, steer, 1,
                in("seat") + offset(2) + ", 'node': 'wheels', 'group': 'g'") +
          ", " + timer("horn", 120, 2, 1, in("seat") + offset(end)) + ", " +
          timer("low", 120, low, 1, in("low") + offset(end + delay)),
      ", 'processes': [{'name': 'top', 'policy': 'fp', 'cpu': 1, 'priority': 90}, {'name': 'seat', "
      "'executor': '" +
          executor +
          "', 'cpus': [0, 1], 'priority': 80}, {'name': 'low', 'policy': 'fp', 'cpu': 0, "
          "'priority': 40}]");
}

// Of low, if each job of seat came to its core as it is released: with the jitter J alone.
nanoseconds without_responses(int steer, int low) {
  const auto count = [](int time, int period) { return (time + period - 1) / period; };
  int response = low;
  for (int before = 0; before != response;) {
    before = response;
    response = low + 3 * 2 * count(before, 120) + steer * count(before, 24);
  }
  return nanoseconds{response};
}

TEST(tiny_robots, jobs_of_several_threads_come_to_a_core_later_than_they_are_released) {
  int late = 0;
  for (const std::string executor : {"rclcpp_multi_threaded", "rclcpp_events_cbg"}) {
    for (int number = 0; number < 5 * 3 * 3 * 3; ++number) {
      const int top = 8 + 2 * (number % 5);
      const int steer = 8 + number / 5 % 3;
      const int low = 6 + number / 15 % 3;
      const std::string text = moved(executor, top, steer, low, number / 45 - 1);
      SCOPED_TRACE(text);
      const application::Application robot = parsed(text);
      const Report report = analyse(robot, {.sensitivity = false});
      const auto& bound = callback(report.scenarios.front(), "low").response;
      const sim::Result played =
          sim::simulate(robot, {.duration = nanoseconds{240}, .percentiles = false});
      const nanoseconds longest = played.callbacks.back().response.max;
      ASSERT_TRUE(bound);
      EXPECT_LE(longest, *bound);
      late += longest > without_responses(steer, low) ? 1 : 0;
    }
  }
  EXPECT_GT(late, 0);
}

}  // namespace
}  // namespace takt::analysis
