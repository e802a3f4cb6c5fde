// SPDX-License-Identifier: Apache-2.0
//
// Jobs that wait several times in the simulation, and their bounds.
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "analysis/random_tasks.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

struct Timer {
  std::int64_t period = 1;
  std::int64_t offset = 0;
  std::int64_t worst = 1;
  std::int64_t suspension = 0;
  std::int64_t suspensions = 0;
};

// One tick is one nanosecond; the first timer has the highest priority.
application::Application of(const std::vector<Timer>& timers) {
  application::Application app{.name = "waits", .policy = "fp"};
  app.cpus = {0};
  for (const Timer& timer : timers) {
    application::Callback& callback = app.callbacks.emplace_back();
    callback.task.name = callback.node = "c" + std::to_string(app.callbacks.size());
    callback.execution = {.best = nanoseconds{1}, .worst = nanoseconds{timer.worst}};
    callback.execution.quantiles = {callback.execution.best, callback.execution.worst};
    callback.suspension = nanoseconds{timer.suspension};
    callback.suspensions = timer.suspensions;
    callback.task.waits = timer.suspension > 0;
    callback.task.parameters = {.period = nanoseconds{timer.period},
                                .offset = nanoseconds{timer.offset},
                                .priority = 99 - static_cast<int>(app.callbacks.size()),
                                .expected_execution = callback.execution.worst,
                                .overrun = sched::Overrun::catch_up};
  }
  return app;
}

nanoseconds response(std::int64_t offset, std::int64_t suspensions) {
  const auto app = of({{.period = 100, .offset = offset, .worst = 1},
                       {.period = 100, .worst = 6, .suspension = 6, .suspensions = suspensions}});
  return sim::simulate(app, {.duration = nanoseconds{100}}).callbacks.back().response.max;
}

// Twice: it computes until 2, from 5 to 7, and from 10 to 12. Once: until 3, and from 9.
TEST(waits_simulated, a_job_waits_as_often_as_declared) {
  for (const std::int64_t computes : {0, 1, 5, 6, 10, 11}) {
    EXPECT_EQ(response(computes, 2), nanoseconds{13}) << computes;
  }
  for (const std::int64_t waits : {2, 3, 4, 7, 8, 9}) {
    EXPECT_EQ(response(waits, 2), nanoseconds{12}) << waits;
  }
  for (const std::int64_t unknown : {0, 1}) {
    EXPECT_EQ(response(2, unknown), nanoseconds{13});
    EXPECT_EQ(response(5, unknown), nanoseconds{12});
  }
}

TEST(waits_simulated, no_response_is_above_its_bound) {
  RandomTasks random{51 - 1 + first_seed()};
  int bounded = 0;
  int by_intervals = 0;
  int reached = 0;
  for (int set = 0; set < rounds(500) && !HasFailure(); ++set) {
    std::vector<Timer> timers;
    for (std::int64_t i = random.number(2, 4); i > 0; --i) {
      // Longer periods further down, so that many releases come while those wait.
      const std::int64_t period = random.number(8, 16) << (2 * timers.size());
      const std::int64_t waits = random.chance(0.6) ? random.number(1, 3) : 0;
      timers.push_back({.period = period,
                        .offset = random.number(0, period),
                        .worst = random.number(1, 1 + period / 5),
                        .suspension = waits > 0 ? random.number(1, period / 2) : 0,
                        .suspensions = waits});
    }
    const auto app = of(timers);
    const ScenarioReport report =
        analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const auto execution = seed == 0 ? sim::ExecutionTimes::worst : sim::ExecutionTimes::drawn;
      const sim::Result run = sim::simulate(app, {.duration = nanoseconds{2000},
                                                  .seed = seed,
                                                  .execution = execution,
                                                  .percentiles = false});
      for (std::size_t i = 0; i < timers.size(); ++i) {
        const CallbackReport& one = report.callbacks[i];
        if (one.response) {
          ++bounded;
          by_intervals += one.bound_by.find("intervals between") != std::string::npos ? 1 : 0;
          reached += run.callbacks[i].response.max == *one.response ? 1 : 0;
          EXPECT_LE(run.callbacks[i].response.max, *one.response) << "set " << set << ", " << i;
        }
      }
    }
  }
  std::cout << bounded << " responses, " << by_intervals << " by intervals, " << reached
            << " as long as their bounds\n";
  EXPECT_GT(by_intervals, rounds(500));
  EXPECT_GT(reached, rounds(500));
}

}  // namespace
}  // namespace takt::analysis
