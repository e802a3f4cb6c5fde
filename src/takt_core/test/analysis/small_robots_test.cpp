// SPDX-License-Identifier: Apache-2.0
//
// Bounds of small random robots, whatever the offsets of their timers, against many short runs of
// each. They need what larger robots with few runs do not show: almost every term that links,
// threads beside executors, quotas, reservations, overheads and ages add to a bound.
#include "analysis/small_robots.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <map>
#include <string>

#include "analysis/unknown_offsets.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

// The longest of all runs of a robot with random offsets; what is above its bound is a failure.
void hold_against_runs(std::uint64_t seed, int runs, int& bounded, int& reached) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const application::Application robot = SmallRobots{seed}.draw();
  const ScenarioReport report =
      analyse(robot, {.sensitivity = false, .proposals = false}).scenarios.front();
  std::map<std::string, nanoseconds> longest;
  RandomTasks random{seed};
  for (int run = 0; run < runs && !testing::Test::HasFailure(); ++run) {
    const application::Application known = with_known_offsets(
        robot, [&](std::int64_t period) { return random.number(0, period - 1); });
    const sim::Result result = sim::simulate(
        known, {.duration = nanoseconds{200},
                .seed = seed + static_cast<std::uint64_t>(run),
                .execution = run % 2 == 0 ? sim::ExecutionTimes::worst : sim::ExecutionTimes::drawn,
                .percentiles = false});
    EXPECT_EQ(above_bounds(report, result), "");
    for (const sim::CallbackResult& one : result.callbacks) {
      longest[one.name] = std::max(longest[one.name], one.response.max);
    }
  }
  for (const CallbackReport& one : report.callbacks) {
    bounded += one.response ? 1 : 0;
    reached += one.response == longest[one.name] ? 1 : 0;
  }
}

TEST(small_robots, no_run_is_above_a_bound) {
  const std::uint64_t end = first_seed() + static_cast<std::uint64_t>(rounds(150));
  int bounded = 0;
  int reached = 0;
  for (std::uint64_t seed = first_seed(); seed < end && !HasFailure(); ++seed) {
    hold_against_runs(seed, 30, bounded, reached);
  }
  std::cout << reached << " of " << bounded << " bounds of small robots reached\n";
  EXPECT_GT(bounded, rounds(200));
  EXPECT_GT(reached, bounded / 4);
}

// A callback is released by one on another core of its process, and by one of another host: its
// response contains the way from there, which the latency from the other core has no term for.
TEST(small_robots, found_that_no_handover_is_taken_off_where_none_is_added) {
  int bounded = 0;
  int reached = 0;
  hold_against_runs(203916, 30, bounded, reached);
}

TEST(small_robots, found_that_who_is_throttled_pays_for_going_on) {
  int bounded = 0;
  int reached = 0;
  hold_against_runs(225198, 30, bounded, reached);
  EXPECT_GT(bounded, 0);
}

}  // namespace
}  // namespace takt::analysis
