// SPDX-License-Identifier: Apache-2.0
//
// Bounds on cores with a declared supply, latency and interrupts against the simulator, in which
// the same cores are away as early and as late as declared.
#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <map>
#include <string>

#include "analysis/random_tasks.hpp"
#include "analysis/simulated_applications.hpp"
#include "takt/sched/error.hpp"

namespace takt::analysis {
namespace {

// The callbacks take less of a core that provides less.
application::Application make_limited(std::uint64_t seed) {
  application::Application app = RandomApplication{seed}.make();
  RandomTasks random{seed + 1'000'000};
  for (application::Callback& callback : app.callbacks) {
    application::ExecutionTime& execution = callback.execution;
    execution.best /= 2;
    execution.worst /= 2;
    execution.quantiles = {execution.best, execution.worst};
    callback.task.parameters.expected_execution = execution.worst;
  }
  for (const int cpu : app.cpus) {
    application::Core core{.cpu = cpu};
    const auto us = [&](std::int64_t least, std::int64_t most) {
      return nanoseconds{random.number(1000 * least, 1000 * most)};
    };
    const std::int64_t kind = random.number(0, 4);
    if (kind < 2) {
      const nanoseconds period = us(20, 3000);
      core.supply = application::Supply{
          .budget = nanoseconds{random.number(6 * period.count() / 10, period.count())},
          .period = period};
    } else if (kind < 4) {
      core.supply = application::Supply{
          .rate = random.number(6, 10) * application::Supply::whole / 10, .delay = us(0, 1500)};
    }
    if (random.chance(0.3)) {
      core.latency = us(0, 50);
    }
    for (std::int64_t i = random.chance(0.5) ? random.number(1, 2) : 0; i > 0; --i) {
      core.interrupts.push_back(
          {.period = us(300, 3000), .duration = us(1, 40), .burst = random.number(1, 4)});
    }
    app.cores.push_back(core);
  }
  return app;
}

TEST(simulated, nothing_is_above_its_bound_on_cores_with_a_declared_supply) {
  Tally tally;
  int compared = 0;
  std::map<std::string, int> bounded;  // by policy
  const std::uint64_t end = first_seed() + static_cast<std::uint64_t>(rounds(3000));
  for (std::uint64_t seed = first_seed(); seed < end && !testing::Test::HasFailure(); ++seed) {
    const application::Application app = make_limited(seed);
    try {
      const Report report = analyse(app, {.sensitivity = false, .proposals = false});
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + describe(app));
      const int before = tally.bounded;
      for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
        compare(
            app, report,
            sim::simulate(
                app,
                {.duration = 120ms, .seed = seed, .execution = execution, .percentiles = false}),
            tally);
      }
      bounded[app.policy] += tally.bounded - before;
      ++compared;
    } catch (const sched::ScheduleError&) {  // an age that no schedule can keep
    }
  }
  EXPECT_GT(compared, rounds(2000));
  EXPECT_GT(tally.accepted, rounds(500));
  EXPECT_GT(tally.bounded, rounds(5000));
  EXPECT_GT(tally.chains, rounds(500));
  EXPECT_GT(tally.reached, rounds(50));
  for (const auto& [policy, count] : bounded) {
    EXPECT_GT(count, rounds(300)) << policy;
  }
  std::cout << compared << " applications, " << tally.accepted << " accepted, " << tally.bounded
            << " bounds, " << tally.reached << " reached, " << tally.chains << " chains\n";
}

}  // namespace
}  // namespace takt::analysis
