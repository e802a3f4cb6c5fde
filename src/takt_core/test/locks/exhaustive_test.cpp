// SPDX-License-Identifier: Apache-2.0
//
// Bounds and simulated runs against every run of tiny sets that take locks.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <utility>

#include "all_runs.hpp"
#include "compared_locks.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

application::Application tiny_set(std::uint64_t seed, const std::string& policy,
                                  bool waits = false) {
  return locking_set(seed,
                     {.most_tasks = 3,
                      .most_locks = 2,
                      .share = 0.4,
                      .periods = {8, 10, 12, 15},
                      .policy = policy,
                      .waits = waits},
                     0.5);
}

void keep_to_bounds(const std::string& policy, bool waits = false) {
  const ComparedLocks all = compare_with_every_run(
      rounds(1000), waits, [&](std::uint64_t seed) { return tiny_set(seed, policy, waits); },
      [](const application::Application& app) { return all_runs(app); });
  std::cout << all;
  EXPECT_EQ(all.waited, 0);
  EXPECT_GT(all.complete, waits ? all.sets / 4 : all.sets / 2);
  EXPECT_GT(all.reached, 0);
}

TEST(EveryRunWithLocks, keeps_to_its_bounds) {
  keep_to_bounds("fp");
}

TEST(EveryRunWithLocks, keeps_to_its_bounds_where_jobs_wait) {
  keep_to_bounds("fp", true);
}

TEST(EveryRunWithLocks, keeps_to_its_bounds_under_edf) {
  keep_to_bounds("edf");
}

// A lower callback waits, and holds a lock of a higher one that waits, too: as blocking (eq. 13)
// that one would be delayed by nothing from below.
TEST(EveryRunWithLocks, found_that_own_sections_delay_what_would_count_as_blocking) {
  const application::Application app = tiny_set(103084, "fp", true);
  const AllRuns runs = all_runs(app);
  EXPECT_EQ(above(report_of(app), runs), "") << text(app);
  EXPECT_EQ(runs.responses.front(), 10);
}

// Two scenarios, in which the callbacks have other priorities. No deadline is below the longest
// execution time; in half of the sets it is one that a bound may come to.
TEST(EveryRunWithLocks, keeps_the_deadlines_that_are_proved_around_switches) {
  const int sets = rounds(1000);
  int proved = 0;
  int kept = 0;    // by runs that were all looked at
  int barely = 0;  // of the proved ones, with a response as long as its deadline
  for (int i = 0; i < sets && !testing::Test::HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    application::Application app = tiny_set(seed, "fp");
    RandomTasks random{seed};
    std::vector<std::vector<int>> priorities(2);
    for (application::Callback& callback : app.callbacks) {
      callback.task.parameters.overrun = sched::Overrun::skip;
      callback.task.parameters.deadline = nanoseconds{
          random.number(callback.execution.worst.count(), callback.task.parameters.period.count())};
      priorities[0].push_back(callback.task.parameters.priority);
    }
    priorities[1] = priorities[0];
    std::ranges::rotate(priorities[1],
                        priorities[1].begin() +
                            random.number(0, static_cast<std::int64_t>(app.callbacks.size()) - 1));
    sched::SchedulingScenario other{"other"};
    for (std::size_t k = 0; k < app.callbacks.size(); ++k) {
      other.add_task({.task = app.callbacks[k].task.name, .priority = priorities[1][k]});
    }
    app.strategy.emplace();
    app.strategy->add_scenario(sched::SchedulingScenario{"first"});
    app.strategy->add_scenario(std::move(other));
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text(app));
    const Report report = analyse(app, {.sensitivity = false, .proposals = false});
    ASSERT_TRUE(report.switches);
    const AllRuns runs = all_runs_of_scenarios(app, priorities);
    bool keeps = true;
    bool reaches = false;
    for (std::size_t k = 0; k < runs.responses.size(); ++k) {
      const std::int64_t deadline = app.callbacks[k].task.parameters.deadline.count();
      keeps = keeps && runs.responses[k] <= deadline;
      reaches = reaches || runs.responses[k] == deadline;
    }
    const bool is_proved = report.switches->verdict == Verdict::meets;
    EXPECT_TRUE(keeps || !is_proved);
    proved += is_proved ? 1 : 0;
    kept += keeps && runs.complete ? 1 : 0;
    barely += is_proved && reaches ? 1 : 0;
  }
  std::cout << proved << " of " << kept << " sets proved around switches, of " << sets << "; in "
            << barely << " a response is as long as its deadline\n";
  EXPECT_GT(proved, sets / 20);
  EXPECT_GT(barely, 0);
}

int exceeded(const std::string& policy, LeftOut left_out) {
  int sets = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const application::Application app = tiny_set(seed, policy);
    sets += above(report_of(app), all_runs(app, left_out)).empty() ? 0 : 1;
  }
  return sets;
}

TEST(EveryRunWithLocks, exceeds_bounds_without_the_protocols) {
  EXPECT_EQ(exceeded("fp", {}), 0);
  EXPECT_GT(exceeded("fp", {.inheritance = true, .ceilings = true}), 0);
  EXPECT_GT(exceeded("edf", {.inheritance = true, .ceilings = true}), 0);
}

// Three callbacks by hand: the middle one has no lock, so it delays the high one without end.
TEST(EveryRunWithLocks, finds_a_missing_inheritance) {
  application::Application app{.name = "inversion", .locks = {{.name = "m"}}};
  const auto add = [&](int priority, std::int64_t period, std::int64_t worst, bool locks) {
    application::Callback callback;
    callback.task.name = "c" + std::to_string(priority);
    callback.task.parameters = {.period = nanoseconds{period},
                                .priority = priority,
                                .expected_execution = nanoseconds{worst},
                                .overrun = sched::Overrun::catch_up};
    callback.execution = {.best = nanoseconds{worst}, .worst = nanoseconds{worst}};
    if (locks) {
      callback.critical_sections = {
          {.lock = 0, .shortest = nanoseconds{2}, .longest = nanoseconds{2}}};
      callback.task.locks = {"m"};
    }
    app.callbacks.push_back(std::move(callback));
  };
  add(3, 15, 2, true);
  add(2, 15, 6, false);
  add(1, 15, 3, true);
  EXPECT_EQ(report_of(app).callbacks[0].response, nanoseconds{4});
  EXPECT_EQ(all_runs(app).responses[0], 2 + 1);  // it has taken the lock at its start
  EXPECT_EQ(all_runs(app, {.inheritance = true}).responses[0], 2 + 1 + 6);
}

}  // namespace
}  // namespace takt::analysis
