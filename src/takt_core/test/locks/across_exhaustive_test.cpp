// SPDX-License-Identifier: Apache-2.0
//
// Bounds and simulated runs against every run of tiny sets that take locks across cores.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>

#include "all_runs_across.hpp"
#include "random_locks.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

using application::LockProtocol;

application::Application tiny_set(std::uint64_t seed, const std::string& policy,
                                  LockProtocol protocol, bool waits = false) {
  const LocksForm tiny{.least_tasks = 3,
                       .most_tasks = 4,
                       .most_locks = 2,
                       .share = 0.9,
                       .periods = {8, 10, 12, 15},
                       .policy = policy,
                       .across = protocol,
                       .waits = waits};
  RandomLocks random{seed};
  application::Application app = random.make(tiny);
  for (application::Callback& callback : app.callbacks) {
    if (random.chance(0.3)) {
      callback.execution.best = nanoseconds{random.number(1, callback.execution.worst.count())};
      callback.execution.quantiles = {callback.execution.best, callback.execution.worst};
    }
  }
  return app;
}

ScenarioReport report_of(const application::Application& app) {
  return analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front();
}

// The first response that is longer in some run than its bound; "" if there is none.
std::string above(const ScenarioReport& report, const AllRunsAcross& runs) {
  for (std::size_t i = 0; i < runs.responses.size(); ++i) {
    const CallbackReport& callback = report.callbacks[i];
    if (callback.response && nanoseconds{runs.responses[i]} > *callback.response) {
      return callback.name + " comes to " + std::to_string(runs.responses[i]) + ", bound " +
             std::to_string(callback.response->count()) + " by " + callback.bound_by;
    }
  }
  return {};
}

// The same of a simulated run, which is one of them.
std::string above(const sim::Result& run, const AllRunsAcross& runs) {
  for (std::size_t i = 0; i < runs.responses.size() && runs.complete; ++i) {
    if (run.callbacks[i].response.max > nanoseconds{runs.responses[i]}) {
      return run.callbacks[i].name + " is simulated with " +
             std::to_string(run.callbacks[i].response.max.count()) + ", and comes to " +
             std::to_string(runs.responses[i]) + " at most";
    }
  }
  return {};
}

void keep_to_bounds(const std::string& policy, LockProtocol protocol, bool waits = false) {
  const int sets = rounds(100);
  int complete = 0;
  int waited = 0;
  int reached = 0;
  int waiting = 0;
  double tightness = 0;
  int compared = 0;
  for (int i = 0; i < sets && !testing::Test::HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const application::Application app = tiny_set(seed, policy, protocol, waits);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text(app));
    const ScenarioReport report = report_of(app);
    const AllRunsAcross runs = all_runs_across(app);
    EXPECT_EQ(above(report, runs), "");
    complete += runs.complete ? 1 : 0;
    waited += runs.waited ? 1 : 0;
    for (std::size_t k = 0; k < runs.responses.size(); ++k) {
      const CallbackReport& callback = report.callbacks[k];
      const bool is_reached = callback.response == nanoseconds{runs.responses[k]};
      EXPECT_TRUE(is_reached || !callback.exact || !runs.complete);
      waiting += callback.locks.empty() || !callback.response ? 0 : 1;
      reached += !callback.locks.empty() && is_reached ? 1 : 0;
      if (!callback.locks.empty() && callback.response && runs.complete) {
        ++compared;
        tightness += static_cast<double>(runs.responses[k]) /
                     static_cast<double>(callback.response->count());
      }
    }
    for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
      const sim::Result run = sim::simulate(app, {.duration = nanoseconds{2000},
                                                  .seed = seed,
                                                  .execution = execution,
                                                  .percentiles = false});
      // There a job may wait when it has computed all, which changes no bound.
      EXPECT_EQ(waits ? "" : above(run, runs), "");
    }
  }
  std::cout << complete << " of " << sets << " sets complete, in " << waited
            << " somebody waits for another core, and " << reached << " of " << waiting
            << " bounds with locks are reached, the longest response in the mean "
            << tightness / std::max(1, compared) << " of its bound\n";
  EXPECT_GT(complete, waits ? 0 : sets / 4);
  EXPECT_GT(waited, 0);
  EXPECT_GT(reached, 0);
}

TEST(EveryRunAcrossCores, keeps_to_its_bounds) {
  keep_to_bounds("fp", LockProtocol::spin);
}

TEST(EveryRunAcrossCores, keeps_to_its_bounds_under_edf) {
  keep_to_bounds("edf", LockProtocol::spin);
}

TEST(EveryRunAcrossCores, keeps_to_its_bounds_where_jobs_wait_without_their_core) {
  keep_to_bounds("fp", LockProtocol::fmlp_plus);
}

TEST(EveryRunAcrossCores, keeps_to_its_bounds_where_jobs_wait_for_something_else_too) {
  keep_to_bounds("fp", LockProtocol::spin, true);
  keep_to_bounds("fp", LockProtocol::fmlp_plus, true);
}

bool exceeds(const std::string& policy, LockProtocol protocol, AcrossLeftOut left_out) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const application::Application app = tiny_set(seed, policy, protocol);
    if (!above(report_of(app), all_runs_across(app, left_out)).empty()) {
      return true;
    }
  }
  return false;
}

TEST(EveryRunAcrossCores, exceeds_bounds_where_jobs_do_not_keep_their_cores) {
  EXPECT_TRUE(exceeds("fp", LockProtocol::spin, {.keeping = true}));
  EXPECT_TRUE(exceeds("fp", LockProtocol::fmlp_plus, {.keeping = true}));
  EXPECT_TRUE(exceeds("edf", LockProtocol::spin, {.keeping = true}));
}

// Three cores by hand: without the order of requests two of them pass the lock to each other.
TEST(EveryRunAcrossCores, finds_a_missing_order) {
  application::Application app{
      .name = "queue",
      .cpus = {0, 1, 2},
      .locks = {{.name = "m", .protocol = application::LockProtocol::spin}}};
  for (int core = 0; core < 3; ++core) {
    application::Callback callback;
    callback.task.name = "c" + std::to_string(core);
    callback.task.cpu = core;
    const bool often = core > 0;
    callback.task.parameters = {.period = nanoseconds{often ? 3 : 20},
                                .deadline = nanoseconds{20},
                                .priority = 1,
                                .expected_execution = nanoseconds{2},
                                .overrun = sched::Overrun::catch_up};
    callback.execution = {.best = nanoseconds{2}, .worst = nanoseconds{2}};
    callback.critical_sections = {
        {.lock = 0, .shortest = nanoseconds{2}, .longest = nanoseconds{2}}};
    app.callbacks.push_back(std::move(callback));
  }
  EXPECT_EQ(report_of(app).callbacks[0].response, nanoseconds{2 + 2 + 2});
  EXPECT_EQ(all_runs_across(app).responses[0], 2 + 2 + 2);
  EXPECT_GT(all_runs_across(app, {.order = true}).responses[0], 2 + 2 + 2);
}

}  // namespace
}  // namespace takt::analysis
