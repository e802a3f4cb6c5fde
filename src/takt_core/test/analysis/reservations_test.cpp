// SPDX-License-Identifier: Apache-2.0
//
// Robots whose processes have reservations (SCHED_DEADLINE), nice values and quotas beside
// priorities: bounds against the simulator (docs/reference/analysis.md, eq. 45 and 46).
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <iostream>
#include <set>
#include <string>

#include "analysis/documents.hpp"
#include "analysis/random_robots.hpp"
#include "analysis/random_tasks.hpp"
#include "takt/sched/error.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

constexpr std::array policies = {"np-fp", "np-edf", "rclcpp_single_threaded", "rclcpp_events"};

std::string any_policy(RandomTasks& random) {
  return policies.at(static_cast<std::size_t>(random.number(0, policies.size() - 1)));
}

// Some of its processes get a reservation, and one of each core may be at SCHED_OTHER.
application::Application with_reservations(application::Application robot, std::uint64_t seed) {
  RandomTasks random{seed};
  std::set<std::pair<std::string, int>> with_other;
  for (application::Process& process : robot.processes) {
    if (random.chance(0.5)) {
      const std::int64_t period = random.number(200, 2000);
      // Of three on a core the sum of runtime / deadline is below 1.
      const std::int64_t deadline = random.chance(0.5) ? period : random.number(100, period);
      const nanoseconds runtime{1000 * deadline * random.number(10, 33) / 100};
      process.reservation = {.runtime = runtime,
                             .deadline = nanoseconds{1000 * deadline},
                             .period = nanoseconds{1000 * period}};
    } else if (random.chance(0.5) && with_other.insert({process.host, process.cpu}).second) {
      process.nice = static_cast<int>(random.number(-20, 19));
      if (random.chance(0.5)) {
        process.quota = {.budget = nanoseconds{1000 * random.number(300, 1000)}, .period = 1000us};
      }
    } else {
      continue;
    }
    process.priority = 0;
    process.policy = any_policy(random);
  }
  return robot;
}

// Those whose callbacks need threads of their own have none here.
bool is_refused(const application::Application& robot) {
  try {
    static_cast<void>(analyse(robot, {.sensitivity = false, .proposals = false}));
    return false;
  } catch (const sched::ScheduleError&) {
    return true;
  }
}

TEST(reservations, nothing_is_above_its_bound) {
  Tally tally;
  int refused = 0;
  const std::uint64_t end = first_seed() + static_cast<std::uint64_t>(rounds(400));
  for (std::uint64_t seed = first_seed(); seed < end && !HasFailure(); ++seed) {
    const application::Application robot = with_reservations(random_robot(seed), seed);
    if (is_refused(robot)) {
      ++refused;
      continue;
    }
    hold_against_simulations(robot, seed, tally);
  }
  std::cout << refused << " refused, " << tally.bounded << " bounds, " << tally.reached
            << " reached, " << tally.chains << " of chains\n";
  EXPECT_LT(refused, rounds(100));
  EXPECT_GT(tally.accepted, rounds(20));
  EXPECT_GT(tally.bounded, rounds(500));
  EXPECT_GT(tally.chains, rounds(50));
}

// Two servers, a process with a priority and one with a nice value on one core, in ticks.
std::string tiny(RandomTasks& random) {
  const auto with = [](const std::string& key, std::int64_t value) {
    return ", '" + key + "': " + std::to_string(value);
  };
  const auto reservation = [&](std::int64_t most) {
    const std::int64_t period = random.number(3, 8);
    const std::int64_t deadline = random.chance(0.5) ? period : random.number(2, period);
    const std::int64_t runtime = std::max<std::int64_t>(1, deadline * most / 100);
    return ", 'reservation': {'runtime': " + std::to_string(runtime) +
           with("deadline", deadline) + with("period", period) + "}, 'policy': 'np-fp'";
  };
  const auto task = [&](const std::string& name, const std::string& process, std::int64_t period,
                        const std::string& more = "") {
    return timer(name, static_cast<int>(period), static_cast<int>(random.number(1, 3)),
                 static_cast<int>(random.number(1, 3)),
                 ", 'process': '" + process + "'" + with("offset", random.number(0, period - 1)) +
                     more);
  };
  const std::string quota = random.chance(0.3) ? ", 'quota': {'budget': 4, 'period': 5}" : "";
  return app(
      task("a", "one", random.number(6, 20)) + ", " + task("b", "one", random.number(15, 40)) +
          ", " + task("c", "two", random.number(8, 25), ", 'writes': ['said']") + ", " +
          task("d", "three", random.number(10, 40)) + ", " +
          message("e", "said", 1, 1, ", 'process': 'three', 'deadline': 40") + ", " +
          task("f", "four", random.number(40, 90)),
      ", 'topics': [{'name': 'said', 'depth': 8}], 'chains': [{'name': 'word', 'callbacks': "
      "['c', 'e']}], 'processes': [{'name': 'one'" +
          reservation(50) + "}, {'name': 'two'" + reservation(random.chance(0.5) ? 50 : 30) +
          "}, {'name': 'three', 'priority': 50}, {'name': 'four', 'nice': 5, 'executor': "
          "'rclcpp_events'" +
          quota + "}], 'handover': {'least': 0, 'most': " + std::to_string(random.number(0, 2)) +
          "}");
}

struct Tried {
  int robots = 0;
  int bounds = 0;
  int reached = 0;
  int servers = 0;  // of these, in processes with reservations
};

void compare_run(const application::Application& robot, const ScenarioReport& bounds,
                 const sim::Result& played, Tried& tried) {
  for (std::size_t i = 0; i < played.callbacks.size(); ++i) {
    const sim::CallbackResult& one = played.callbacks[i];
    if (const auto& bound = callback(bounds, one.name).response) {
      ++tried.bounds;
      EXPECT_LE(one.response.max, *bound) << one.name;
      if (one.response.max == *bound) {
        ++tried.reached;
        tried.servers += robot.processes[robot.callbacks[i].process].reservation ? 1 : 0;
      }
    }
  }
  for (std::size_t i = 0; i < played.chains.size(); ++i) {
    const ChainReport& bound = bounds.chains[i];
    const sim::ChainResult& one = played.chains[i];
    EXPECT_TRUE(!bound.latency || one.latency.max <= *bound.latency) << bound.name;
    EXPECT_TRUE(!bound.reaction || one.reaction.max <= *bound.reaction) << bound.name;
    EXPECT_TRUE(!bound.age || one.age.max <= *bound.age) << bound.name;
  }
}

TEST(reservations, no_run_of_tiny_robots_leads_above_a_bound) {
  Tried tried;
  for (int number = 0; number < rounds(1500) && !HasFailure(); ++number) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(number);
    RandomTasks random{seed};
    const std::string text = tiny(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
    application::Application robot;
    try {
      robot = parsed(text);
    } catch (const sched::ScheduleError&) {
      continue;  // the reservations do not fit
    }
    ++tried.robots;
    const Report report = analyse(robot, {.sensitivity = false, .proposals = false});
    const ScenarioReport& bounds = report.scenarios.front();
    for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
      compare_run(robot, bounds,
                  sim::simulate(robot, {.duration = nanoseconds{600},
                                        .seed = seed,
                                        .execution = execution,
                                        .percentiles = false}),
                  tried);
    }
  }
  std::cout << tried.robots << " robots, " << tried.reached << " of " << tried.bounds
            << " bounds reached, " << tried.servers << " under reservations\n";
  EXPECT_GT(tried.robots, rounds(300));
  EXPECT_GT(tried.reached, rounds(20));
}

}  // namespace
}  // namespace takt::analysis
