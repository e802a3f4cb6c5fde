// SPDX-License-Identifier: Apache-2.0
//
// Two chains that have their cores to themselves, against all that can happen on these
// (docs/reference/analysis.md, eq. 46). By hand as exhaustive_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <string>

#include "../policies.hpp"
#include "analysis/core_bounds.hpp"
#include "analysis/random_tasks.hpp"
#include "takt/analysis/analyse.hpp"

namespace takt::analysis {
namespace {

// Two chains over two cores, mostly with periods in which all of their jobs may end; sometimes they
// branch, publish early, or a callback is there that does not belong to them.
class PaceSets : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  std::vector<CoreTask> draw() {
    std::vector<CoreTask> tasks;
    const auto all = static_cast<std::size_t>(number(5, 7));
    const auto first = static_cast<std::size_t>(number(2, static_cast<int>(all) - 2));
    constexpr int cores = 2;
    const bool fixed = chance(0.4);
    const bool foreign = chance(0.3);
    const bool branches = chance(0.15);
    const bool anywhere = chance(0.25);
    for (std::size_t i = 0; i < all; ++i) {
      const bool begins = i == 0 || i == first;
      const bool leaves = branches && !begins && i - 1 != first && i > 1 && chance(0.4);
      const std::size_t before = leaves ? i - 2 : i - 1;
      const bool turns = !begins && chance(0.65);
      const auto core = turns ? (tasks[before].core + 1) % static_cast<std::size_t>(cores)
                              : static_cast<std::size_t>(number(0, cores - 1));
      const std::int64_t worst = number(1, 3);
      tasks.push_back({.core = core,
                       .before = begins ? CoreTask::timer : before,
                       .best = fixed || chance(0.5) ? worst : number(0, worst),
                       .worst = worst,
                       .deadline = number(4, 30),
                       .anywhere = anywhere && chance(0.4)});
    }
    if (foreign && all < 7) {
      tasks.push_back({.core = static_cast<std::size_t>(number(0, cores - 1)), .deadline = 10});
    }
    order(tasks, first);
    const std::int64_t period = number(6, 30);
    const std::int64_t other = chance(0.5) ? period : number(6, 30);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].period = i < first ? period : other;
    }
    return tasks;
  }

 private:
  // One chain above the other one, or any.
  void order(std::vector<CoreTask>& tasks, std::size_t first) {
    std::vector<int> priorities(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      priorities[i] = static_cast<int>(i + 1);
    }
    if (chance(0.5)) {
      shuffle(*this, priorities);
    } else if (chance(0.3)) {
      std::ranges::reverse(priorities);
      std::ranges::rotate(priorities, priorities.begin() + static_cast<std::ptrdiff_t>(first));
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].priority = priorities[i];
    }
  }
};

struct PaceTally {
  int complete = 0;
  int paced = 0;  // latencies bounded by eq. 46
  int reached = 0;
};

void hold_paced(const std::vector<CoreTask>& tasks, const std::string& policy, PaceTally& tally) {
  const auto count = [&](std::size_t task, const BoundedTask& one, const CoresReached& reached) {
    if (one.latency.bound && one.latency.by == By::path_paced && reached.complete) {
      ++tally.paced;
      tally.reached += reached.latencies[task] == one.latency.bound->count() ? 1 : 0;
    }
  };
  tally.complete += hold_on_cores(tasks, policy, 20'000, count) ? 1 : 0;
}

class EveryRunOfTwoChains : public testing::TestWithParam<std::string> {};

TEST_P(EveryRunOfTwoChains, keeps_to_its_bounds) {
  PaceTally tally;
  const int sets = rounds(60);
  for (int i = 0; i < sets && !HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const std::vector<CoreTask> tasks = PaceSets{seed}.draw();
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + GetParam() + describe(tasks));
    hold_paced(tasks, GetParam(), tally);
  }
  EXPECT_GT(tally.complete, sets / 6);
  const bool often = GetParam().starts_with("np");  // with preemption it is seldom the least
  EXPECT_GE(tally.paced, often ? sets / 10 : 0);
  EXPECT_GE(tally.reached, often ? sets / 20 : 0);
  std::cout << tally.complete << " of " << sets << " sets complete; " << tally.reached << " of "
            << tally.paced << " latencies by eq. 46 reached\n";
}

// Two chains over two cores in turn, the second one above the first: without eq. 46 all that the
// second one computes delays the first.
application::Application two_chains() {
  application::Application app{.name = "two", .policy = "fp"};
  app.cpus = {0, 1};
  for (const std::string name : {"a", "b"}) {
    app.chains.push_back({.name = name});
    for (int i = 0; i < 6; ++i) {
      application::Callback own;
      own.task.name = own.node = name + std::to_string(i);
      own.task.cpu = i % 2;
      own.task.parameters = {.deadline = nanoseconds{1000},
                             .priority = (name == "a" ? 20 : 40) + i,
                             .expected_execution = nanoseconds{10},
                             .overrun = sched::Overrun::catch_up};
      own.execution = {.best = nanoseconds{10}, .worst = nanoseconds{10}};
      own.execution.quantiles = {own.execution.best};
      if (i == 0) {
        own.task.parameters.period = nanoseconds{1000};
      } else {
        own.task.kind = sched::TaskKind::message;
        own.task.trigger = name + "_from_" + std::to_string(i - 1);
      }
      own.task.writes = {name + "_from_" + std::to_string(i)};
      app.topics.push_back({.name = own.task.writes.front(), .depth = 10});
      app.chains.back().callbacks.push_back(own.task.name);
      app.callbacks.push_back(std::move(own));
    }
  }
  return app;
}

bool is_paced(const application::Application& app) {
  const ChainReport chain =
      analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front().chains.front();
  return chain.bound_by.ends_with("eq. 17 and 46");
}

TEST(TwoChains, that_have_their_cores_to_themselves_advance_together) {
  const application::Application app = two_chains();
  const ChainReport chain =
      analyse(app, {.sensitivity = false, .proposals = false}).scenarios.front().chains.front();
  EXPECT_TRUE(is_paced(app)) << chain.bound_by;
  EXPECT_EQ(chain.latency, nanoseconds{80});  // two jobs of the other one, and never again
}

TEST(TwoChains, do_not_advance_together_where_something_else_takes_time) {
  const auto with = [](auto change) {
    application::Application app = two_chains();
    change(app);
    return is_paced(app);
  };
  EXPECT_FALSE(with([](auto& app) { app.overheads.release = nanoseconds{1}; }));
  EXPECT_FALSE(with([](auto& app) { app.overheads.dispatch = nanoseconds{1}; }));
  EXPECT_FALSE(with([](auto& app) {
    app.cores = {
        {.cpu = 1, .interrupts = {{.period = nanoseconds{500}, .duration = nanoseconds{1}}}}};
  }));
  EXPECT_FALSE(with([](auto& app) {
    app.cores = {
        {.cpu = 1,
         .supply = application::Supply{.budget = nanoseconds{9}, .period = nanoseconds{10}}}};
  }));
  EXPECT_FALSE(with([](auto& app) { app.cores = {{.cpu = 1, .latency = nanoseconds{1}}}; }));
  EXPECT_FALSE(with([](auto& app) { app.callbacks.front().jitter = nanoseconds{1}; }));
  EXPECT_FALSE(with([](auto& app) { app.callbacks[8].publishes_anywhere = true; }));
  EXPECT_FALSE(
      with([](auto& app) { app.callbacks[6].messages["b_from_0"] = {.least = 1, .most = 2}; }));
  EXPECT_FALSE(with([](auto& app) {
    app.callbacks[1].task.group = "group";
    app.callbacks[7].task.group = "group";
    app.policy = "edf";
  }));
}

// c4 begins while c0 computes, and c5 delays c1 although c4 takes longer than c1.
TEST(TwoChains, may_compute_across_the_end_of_a_job) {
  const std::vector<CoreTask> tasks = {
      {.core = 0, .period = 40, .best = 3, .worst = 3, .deadline = 40, .priority = 1},
      {.core = 0, .before = 0, .period = 40, .best = 3, .worst = 3, .deadline = 40, .priority = 2},
      {.core = 1, .before = 1, .period = 40, .best = 1, .worst = 1, .deadline = 40, .priority = 3},
      {.core = 0, .period = 40, .best = 4, .worst = 4, .deadline = 40, .priority = 4},
      {.core = 1, .before = 3, .period = 40, .best = 5, .worst = 5, .deadline = 40, .priority = 5},
      {.core = 0, .before = 4, .period = 40, .best = 4, .worst = 4, .deadline = 40, .priority = 6}};
  PaceTally tally;
  hold_paced(tasks, "fp", tally);
  EXPECT_EQ(tally.complete, 1);
}

// c2 preempts c1, whose message has released it, before c1 has ended; c6 comes meanwhile.
TEST(TwoChains, may_delay_a_job_that_has_computed_all) {
  const std::vector<CoreTask> tasks = {
      {.core = 1, .period = 30, .best = 3, .worst = 3, .deadline = 19, .priority = 3},
      {.core = 0, .before = 0, .period = 30, .deadline = 28, .priority = 2},
      {.core = 0, .before = 1, .period = 30, .best = 2, .worst = 2, .deadline = 26, .priority = 1},
      {.core = 1, .before = 2, .period = 30, .best = 2, .worst = 2, .deadline = 15, .priority = 7},
      {.core = 0, .period = 30, .best = 3, .worst = 3, .deadline = 22, .priority = 6},
      {.core = 1, .before = 4, .period = 30, .deadline = 4, .priority = 5},
      {.core = 0, .before = 5, .period = 30, .deadline = 19, .priority = 4}};
  PaceTally tally;
  hold_paced(tasks, "edf", tally);
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryRunOfTwoChains,
                         testing::Values("fp", "np-fp", "edf", "np-edf"), test::policy_name);

}  // namespace
}  // namespace takt::analysis
