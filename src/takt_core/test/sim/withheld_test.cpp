// SPDX-License-Identifier: Apache-2.0
//
// When a core is away in virtual time.
#include "sim/withheld.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "sim/schedule.hpp"
#include "takt/analysis/supply.hpp"

namespace takt::sim {
namespace {

application::Core with_supply(application::Supply supply) {
  return {.cpu = 0, .supply = supply};
}

const application::Supply four_in_five = {.budget = 4ms, .period = 5ms};

std::vector<std::pair<nanoseconds, nanoseconds>> first(Withheld withheld, std::size_t count) {
  std::vector<std::pair<nanoseconds, nanoseconds>> result;
  for (std::size_t i = 0; i < count; ++i) {
    const nanoseconds begin = withheld.next().time_since_epoch();
    result.emplace_back(begin, withheld.take());
  }
  return result;
}

using Times = std::vector<std::pair<nanoseconds, nanoseconds>>;

TEST(Withheld, is_as_long_as_it_may_be_from_the_start_in_the_worst_case) {
  EXPECT_EQ(first(Withheld{with_supply(four_in_five), false, 1}, 4),
            (Times{{0ms, 1ms}, {1ms, 1ms}, {6ms, 1ms}, {11ms, 1ms}}));
  application::Core core;
  core.interrupts = {{.period = 4ms, .duration = 1ms, .burst = 2}};
  EXPECT_EQ(first(Withheld{core, false, 1}, 4),
            (Times{{0ms, 1ms}, {0ms, 1ms}, {4ms, 1ms}, {8ms, 1ms}}));
}

TEST(Withheld, realises_a_bounded_delay_by_gaps_of_half_the_delay) {
  constexpr std::int64_t whole = application::Supply::whole;
  EXPECT_EQ(first(Withheld{with_supply({.rate = whole / 10 * 8, .delay = 2ms}), false, 1}, 3),
            (Times{{0ms, 1ms}, {1ms, 1ms}, {6ms, 1ms}}));
  Withheld once{with_supply({.delay = 2ms}), false, 1};
  EXPECT_EQ(once.take(), 2ms);
  EXPECT_EQ(once.next(), TimePoint::max());
}

TEST(Withheld, never_happens_to_a_whole_core) {
  EXPECT_EQ(Withheld{}.next(), TimePoint::max());
  EXPECT_EQ((Withheld{{.cpu = 1}, true, 1}).next(), TimePoint::max());
  EXPECT_EQ((Withheld{with_supply({.budget = 5ms, .period = 5ms}), true, 1}).next(),
            TimePoint::max());
}

// Whatever the seed: from the beginning of each gap on, the work of up to three budgets is done in
// the time of the supply bound function.
TEST(Withheld, gives_what_is_declared_wherever_the_budget_is_drawn) {
  const analysis::Supply least{with_supply(four_in_five)};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Times gaps = first(Withheld{with_supply(four_in_five), true, seed}, 40);
    for (std::size_t begin = 0; begin < 30; ++begin) {
      nanoseconds supplied{0};
      for (std::size_t i = begin; i < begin + 4; ++i) {
        const nanoseconds end = gaps[i].first + gaps[i].second;
        EXPECT_LE(end - gaps[begin].first, least.time_for(supplied + nanoseconds{1})) << seed;
        supplied += gaps[i + 1].first - end;
      }
    }
  }
}

Result run(const application::Core& core, ExecutionTimes execution = ExecutionTimes::worst) {
  std::vector<Task> tasks{timer("high", 10ms, 3ms, 2), timer("low", 20ms, 4ms, 1)};
  application::Application app = application(tasks, "fp");
  app.cores = {core};
  return simulate(app, {.duration = 2s, .execution = execution});
}

// 3 + 2 without supply; 7 + 3. Both are the bounds of the analysis.
TEST(Withheld, delays_what_runs_and_what_is_released_meanwhile) {
  const Result result = run(with_supply(four_in_five));
  EXPECT_EQ(result.callbacks[0].response.max, 5ms);
  EXPECT_EQ(result.callbacks[1].response.max, 10ms);
  EXPECT_EQ(run({}).callbacks[1].response.max, 7ms);
}

TEST(Withheld, interrupts_and_latency_delay_as_well) {
  application::Core core;
  core.interrupts = {{.period = 4ms, .duration = 500us, .burst = 2}};
  EXPECT_EQ(run(core).callbacks[0].response.max, 4ms);
  EXPECT_EQ(run(core).callbacks[1].response.max, 9ms);
  EXPECT_EQ(run({.latency = 1ms}).callbacks[0].response.max, 4ms);
  EXPECT_EQ(run({.latency = 1ms}).callbacks[1].response.max, 9ms);
}

TEST(Withheld, the_same_seed_gives_the_same_run) {
  const Result one = run(with_supply(four_in_five), ExecutionTimes::drawn);
  const Result two = run(with_supply(four_in_five), ExecutionTimes::drawn);
  EXPECT_EQ(one.callbacks[1].response.max, two.callbacks[1].response.max);
  EXPECT_EQ(one.callbacks[1].response.mean, two.callbacks[1].response.mean);
  EXPECT_LE(one.callbacks[1].response.max, 10ms);
  EXPECT_GE(one.callbacks[1].response.max, 7ms);
}

}  // namespace
}  // namespace takt::sim
