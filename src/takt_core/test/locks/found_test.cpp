// SPDX-License-Identifier: Apache-2.0
//
// Runs that showed what a bound with locks has to count, each without one of its conditions.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "all_runs.hpp"
#include "documents.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

// lowest holds b when low asks for it, who holds a: high waits for both.
TEST(LocksFound, a_lock_reaches_as_high_as_the_one_around_its_request) {
  const std::string json = with_locks(
      timer("high", 500, 1, 3, at(2) + holds(section("a", 0, 1))) + "," +
          timer("low", 500, 2, 2, at(1) + holds(section("a", 0, 2) + "," + section("b", 1, 1))) +
          "," + timer("lowest", 500, 5, 1, holds(section("b", 0, 5))),
      mutex("a", "inheritance") + "," + mutex("b", "inheritance"));
  const sim::Result run = sim::simulate(parsed(json), {.duration = nanoseconds{500}});
  EXPECT_EQ(run.callbacks.front().response.max, nanoseconds{6});  // lowest 3, low 2, high 1
  EXPECT_EQ(callback(analyse_json(json).scenarios.front(), "high").response,
            nanoseconds{1 + 2 + 5});
}

// middle delays low, so that two of its sections are near each other, and high waits between them.
TEST(LocksFound, what_blocks_a_job_that_waits_may_come_as_late_as_it_responds) {
  const std::string catch_up = ", 'overrun': 'catch_up'";
  const application::Application app = parsed(with_locks(
      timer("high", 30, 3, 3,
            catch_up + ", 'suspension': 3, 'suspensions': 2" + holds(section("m", 2, 1))) +
          "," + timer("middle", 30, 6, 2, catch_up) + "," +
          timer("low", 10, 3, 1, catch_up + holds(section("m", 0, 3))),
      mutex("m", "ceiling")));
  const ScenarioReport report = analyse(app).scenarios.front();
  const AllRuns runs = all_runs(app);
  EXPECT_TRUE(runs.complete);
  EXPECT_EQ(runs.responses.front(), 10);
  EXPECT_GE(report.callbacks.front().response, nanoseconds{10});
}

}  // namespace
}  // namespace takt::analysis
