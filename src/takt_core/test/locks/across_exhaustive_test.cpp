// SPDX-License-Identifier: Apache-2.0
//
// Bounds and simulated runs against every run of tiny sets that take locks across cores.
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "all_runs_across.hpp"
#include "compared_locks.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

using application::LockProtocol;

application::Application tiny_set(std::uint64_t seed, const std::string& policy,
                                  LockProtocol protocol, bool waits = false) {
  return locking_set(seed,
                     {.least_tasks = 3,
                      .most_tasks = 4,
                      .most_locks = 2,
                      .share = 0.9,
                      .periods = {8, 10, 12, 15},
                      .policy = policy,
                      .across = protocol,
                      .waits = waits},
                     0.3);
}

void keep_to_bounds(const std::string& policy, LockProtocol protocol, bool waits = false) {
  const ComparedLocks all = compare_with_every_run(
      rounds(100), waits,
      [&](std::uint64_t seed) { return tiny_set(seed, policy, protocol, waits); },
      [](const application::Application& app) { return all_runs_across(app); });
  std::cout << all;
  EXPECT_GT(all.complete, waits ? 0 : all.sets / 4);
  EXPECT_GT(all.waited, 0);
  EXPECT_GT(all.reached, 0);
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
