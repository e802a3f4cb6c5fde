// SPDX-License-Identifier: Apache-2.0
//
// Bounds against the simulator, which decides as the executor does: whatever random applications
// do, no response, latency or age is above its bound, and what is accepted misses no deadline.
#include <gtest/gtest.h>

#include "analysis/random_tasks.hpp"
#include "analysis/simulated_applications.hpp"
#include "takt/sched/error.hpp"

namespace takt::analysis {
namespace {

TEST(simulated, nothing_is_above_its_bound) {
  Tally tally;
  int compared = 0;
  const std::uint64_t end = first_seed() + static_cast<std::uint64_t>(rounds(3000));
  for (std::uint64_t seed = first_seed(); seed < end; ++seed) {
    application::Application app = RandomApplication{seed}.make();
    if (seed % 5 == 0) {  // no switch leads there, but levels cannot be compared any more
      app.strategy.emplace()
          .add_scenario(sched::SchedulingScenario{"first"})
          .add_scenario(sched::SchedulingScenario{"other"}.set_scheduling_policy(
              sched::non_preemptive_fixed_priority()));
    }
    try {
      const Report report = analyse(app, {.sensitivity = false, .proposals = false});
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + describe(app));
      for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
        compare(
            app, report,
            sim::simulate(
                app,
                {.duration = 120ms, .seed = seed, .execution = execution, .percentiles = false}),
            tally);
      }
      ++compared;
    } catch (const sched::ScheduleError&) {  // an age that no schedule can keep
    }
    if (HasFailure()) {
      break;
    }
  }
  EXPECT_GT(compared, rounds(2500));
  EXPECT_GT(tally.accepted, rounds(1000));
  EXPECT_GT(tally.bounded, rounds(10'000));
  EXPECT_GT(tally.bursts, rounds(1000));
  EXPECT_GT(tally.chains, rounds(1000));
  EXPECT_GT(tally.ages, rounds(200));
  EXPECT_GT(tally.reached, rounds(1000));
  EXPECT_GT(tally.explored, rounds(300));
}

}  // namespace
}  // namespace takt::analysis
