// SPDX-License-Identifier: Apache-2.0
//
// What has no bound is seen to have none, instead of looked for until no effort is left for others.
#include <gtest/gtest.h>

#include "analysis/arrival_count.hpp"
#include "analysis/documents.hpp"
#include "analysis/random_tasks.hpp"
#include "takt/analysis/core.hpp"

namespace takt::analysis {
namespace {

constexpr nanoseconds period{10'000'000};

// Takes all of the core, and comes late.
std::vector<Demand> full_and_late() {
  return {{.releases = {.period = period, .jitter = period / 2},
           .execution = period / 2,
           .deadline = 4 * period,
           .level = 2},
          {.task = 1,
           .releases = {.period = period},
           .lag = period / 2,
           .execution = period / 2,
           .deadline = 4 * period,
           .level = 1}};
}

TEST(effort, is_not_spent_on_a_full_core_whose_jobs_come_late) {
  const Effort all;
  for (const auto test : {analysis::Test::fixed_priority, analysis::Test::edf}) {
    const std::vector<Demand> demands = full_and_late();
    Effort effort;
    const CoreBounds found = bounds(test, demands, effort);
    EXPECT_FALSE(found.responses[1].bound);
    EXPECT_NE(found.schedulable, true);
    EXPECT_GT(effort.steps, all.steps - 10'000);
  }
}

TEST(effort, a_full_core_where_only_the_lowest_is_noticed_late_has_bounds) {
  std::vector<Demand> demands = full_and_late();
  demands[0].releases.jitter = nanoseconds{0};
  Effort effort;
  const CoreBounds found = bounds(analysis::Test::fixed_priority, demands, effort);
  EXPECT_EQ(found.responses[1].bound, period + period / 2);
}

// Each core with its own deadlines, whatever becomes of the other.
TEST(effort, a_core_without_bounds_takes_none_from_the_others) {
  for (const std::string policy : {"fp", "edf", "np-fp"}) {
    const std::string callbacks = timer("a", 10, 5, 2, ", 'cpu': 0, 'jitter': 5, 'deadline': 40") +
                                  "," + timer("b", 10, 5, 1, ", 'cpu': 0, 'deadline': 40") + "," +
                                  timer("c", 10, 5, 1, ", 'cpu': 1");
    const Report report =
        analyse_json(app(callbacks, ", 'cpus': [0, 1], 'policy': '" + policy + "'"));
    EXPECT_FALSE(callback(report.scenarios.front(), "b").response) << policy;
    EXPECT_EQ(callback(report.scenarios.front(), "c").response, nanoseconds{5}) << policy;
  }
}

// Four callbacks of one priority, each released by the one before: late ends are late releases, and
// these are late ends. Where somebody waits they are not analysed as a whole. The timer on the
// other core has nothing to do with them.
TEST(effort, jitter_that_grows_from_round_to_round_takes_no_bounds_from_the_others) {
  const std::string chain = timer("a", 5'000'000, 1'100'000, 2, ", 'cpu': 0, 'writes': ['x']") +
                            "," + message("b", "x", 1'100'000, 2, ", 'cpu': 0, 'writes': ['y']") +
                            "," + message("c", "y", 1'100'000, 2, ", 'cpu': 0, 'writes': ['z']") +
                            "," + message("d", "z", 1'100'000, 2, ", 'cpu': 0") + "," +
                            timer("w", 5'000'000, 1, 1, ", 'cpu': 0, 'suspension': 1");
  const Report report = analyse_json(
      app(chain + "," + timer("e", 10, 5, 1, ", 'cpu': 1"), ", 'cpus': [0, 1], 'policy': 'fp'"));
  EXPECT_FALSE(callback(report.scenarios.front(), "d").response);
  EXPECT_EQ(callback(report.scenarios.front(), "e").response, nanoseconds{5});
}

TEST(effort, prepared_divisions_count_the_same) {
  RandomTasks random{9};
  for (int round = 0; round < 100'000; ++round) {
    const auto below = [&](int bits) { return random.number(1, std::int64_t{1} << bits); };
    const int bits = static_cast<int>(random.number(1, 52));
    const Arrivals arrivals{.period = nanoseconds{below(bits)},
                            .jitter = nanoseconds{random.chance(0.5) ? below(bits) : 0},
                            .distance = nanoseconds{random.chance(0.2) ? below(bits) : 0}};
    nanoseconds window{below(static_cast<int>(random.number(1, 52)))};
    if (random.chance(0.5)) {  // where the count changes
      window = std::max(nanoseconds{0}, window / arrivals.period * arrivals.period -
                                            arrivals.jitter + nanoseconds{random.number(-1, 1)});
    }
    const ArrivalCount count{arrivals};
    ASSERT_EQ(count.closed(window), arrivals.closed(window));
    ASSERT_EQ(count.open(window), arrivals.open(window));
  }
}

}  // namespace
}  // namespace takt::analysis
