// SPDX-License-Identifier: Apache-2.0
//
// Segments in the simulation, and their bounds.
#include <gtest/gtest.h>

#include <iostream>
#include <string>
#include <vector>

#include "analysis/random_tasks.hpp"
#include "documents.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/application/parse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

nanoseconds longest_response(const std::string& callbacks, const std::string& more = "") {
  const auto app = application::parse(document(callbacks, more));
  return sim::simulate(app, {.duration = nanoseconds{100}}).callbacks.back().response.max;
}

std::string timer(std::int64_t period, std::int64_t offset, std::int64_t worst, int priority) {
  return R"({"name":"t","period":)" + std::to_string(period) + R"(,"offset":)" +
         std::to_string(offset) + R"(,"priority":)" + std::to_string(priority) +
         R"(,"execution":{"worst":)" + std::to_string(worst) + "}}";
}

// It computes until 2, from 5 to 9, and from 10 to 11.
TEST(segments_simulated, a_job_computes_and_waits_in_the_declared_order) {
  const std::string own = segmented("a", 100, 1, {{2, 2}, {3, 3}, {4, 4}, {1, 1}, {1, 1}});
  for (std::int64_t at = 0; at < 11; ++at) {
    const bool computes = at < 2 || (at >= 5 && at < 9) || at == 10;
    EXPECT_EQ(longest_response(timer(100, at, 1, 2) + "," + own), nanoseconds{computes ? 12 : 11})
        << at;
  }
}

// Overheads are part of its first segment.
TEST(segments_simulated, overheads_come_first) {
  const std::string own = segmented("a", 100, 1, {{2, 2}, {3, 3}, {1, 1}});
  for (std::int64_t at = 0; at < 10; ++at) {
    const bool computes = at < 6 || at == 9;
    EXPECT_EQ(longest_response(timer(100, at, 1, 2) + "," + own, R"(,"overheads":{"dispatch":4})"),
              nanoseconds{computes ? 15 : at + 6})
        << at;
  }
}

std::vector<TickSegment> random_segments(RandomTasks& random, std::int64_t most) {
  std::vector<TickSegment> segments(2 * static_cast<std::size_t>(random.number(1, 3)) + 1);
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::int64_t longest = random.number(1, std::max<std::int64_t>(1, most));
    const std::int64_t least = computes(i) ? 1 : 0;
    segments[i] = {.shortest = random.chance(0.6) ? longest : random.number(least, longest),
                   .longest = longest};
  }
  return segments;
}

struct Tally {
  int bounded = 0;
  int by_segments = 0;
  int reached = 0;
};

// One after the other, with longer periods further down; some compute without a wait.
std::string random_document(RandomTasks& random) {
  std::string callbacks;
  const std::int64_t count = random.number(2, 4);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t period = random.number(10, 20) << (2 * i);
    std::vector<TickSegment> segments = random_segments(random, period / 10);
    const std::string name = "c" + std::to_string(i);
    const int priority = 90 - static_cast<int>(i);
    const std::string more = R"(,"overrun":"catch_up","offset":)" +
                             std::to_string(random.number(0, period)) +
                             (random.chance(0.3) ? R"(,"jitter":2)" : "");
    callbacks += callbacks.empty() ? "" : ",";
    callbacks += random.chance(0.7)
                     ? segmented(name, period, priority, segments, more)
                     : R"({"name":")" + name + R"(","period":)" + std::to_string(period) +
                           R"(,"priority":)" + std::to_string(priority) +
                           R"(,"execution":{"best":1,"worst":)" +
                           std::to_string(random.number(1, 1 + period / 5)) + "}" + more + "}";
  }
  return document(callbacks, random.chance(0.3)
                                 ? R"(,"overheads":{"dispatch":1,"preemption":1,"release":1})"
                                 : "");
}

void compare(const application::Application& app, Tally& tally) {
  const ScenarioReport report =
      analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto execution = seed == 0 ? sim::ExecutionTimes::worst : sim::ExecutionTimes::drawn;
    const sim::Result run = sim::simulate(app, {.duration = nanoseconds{3000},
                                                .seed = seed,
                                                .execution = execution,
                                                .percentiles = false});
    for (std::size_t i = 0; i < app.callbacks.size(); ++i) {
      const CallbackReport& one = report.callbacks[i];
      if (one.response) {
        ++tally.bounded;
        tally.by_segments += one.bound_by.starts_with("segments of known lengths") ? 1 : 0;
        tally.reached += run.callbacks[i].response.max == *one.response ? 1 : 0;
        EXPECT_LE(run.callbacks[i].response.max, *one.response) << app.callbacks[i].task.name;
      }
    }
  }
}

TEST(segments_simulated, no_response_is_above_its_bound) {
  RandomTasks random{71 - 1 + first_seed()};
  Tally tally;
  for (int set = 0; set < rounds(400) && !HasFailure(); ++set) {
    const std::string text = random_document(random);
    SCOPED_TRACE(text);
    compare(application::parse(text), tally);
  }
  std::cout << tally.bounded << " responses, " << tally.by_segments << " by segments, "
            << tally.reached << " as long as their bounds\n";
  EXPECT_GT(tally.by_segments, rounds(400));
  EXPECT_GT(tally.reached, rounds(400));
}

// A factor scales the segments, too.
TEST(segments_simulated, sensitivity_is_that_of_the_scaled_segments) {
  const auto all = [](std::int64_t unit) {
    const auto app = application::parse(document(
        segmented("a", 20'000, 2, {{2 * unit, 2 * unit}, {6'000, 6'000}, {2 * unit, 2 * unit}}) +
        "," + R"({"name":"b","period":40000,"deadline":24000,"priority":1,)" +
        R"("execution":{"worst":12000}})"));
    return analyse(app, {.proposals = false}).scenarios.front();
  };
  const ScenarioReport report = all(1'000);
  ASSERT_TRUE(report.sensitivity);
  const double factor = report.sensitivity->callbacks.front().second;
  EXPECT_EQ(all(static_cast<std::int64_t>(1'000 * factor)).deadlines, Verdict::meets) << factor;
  EXPECT_NE(all(static_cast<std::int64_t>(1'002 * factor) + 1).deadlines, Verdict::meets) << factor;
}

}  // namespace
}  // namespace takt::analysis
