// SPDX-License-Identifier: Apache-2.0
//
// The bounds for rclcpp's multi-threaded executor against every run of small sets.
#include "analysis/every_run_of_threads.hpp"

#include <gtest/gtest.h>

#include <iostream>

#include "analysis/random_tasks.hpp"
#include "analysis/simulated_applications.hpp"
#include "analysis/threads.hpp"

namespace takt::analysis {
namespace {

struct Held {
  int interrupted = 0;
  int reentrant = 0;
  int reached = 0;
  int bounded = 0;
};

// A drawn set: its bounds and its longest responses. `reentrant`: some of its callbacks are.
void hold(std::uint64_t seed, bool reentrant, Held& held) {
  RandomTasks random{seed};
  const auto threads = static_cast<std::size_t>(random.number(2, 3));
  std::vector<Demand> demands;
  std::string set = std::to_string(threads) + " threads";
  // Long jobs, of which one that began before delays others, in sets of three.
  const auto count = static_cast<std::size_t>(random.number(reentrant ? 2 : 3, reentrant ? 3 : 4));
  const bool interrupts = count == 3 && random.chance(0.5);
  const std::int64_t most = interrupts ? 2 : count <= 3 ? 6 : 3;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t execution = random.number(1, most);
    const std::int64_t least = reentrant ? 1 + execution / 2 : execution + 1;
    demands.push_back(
        {.task = i,
         .group = static_cast<std::size_t>(random.number(0, 3)),
         .releases = {.period = nanoseconds{random.number(least, interrupts ? 8 : 3 * most)}},
         .execution = nanoseconds{execution}});
    if (reentrant && (i == 0 || random.chance(0.4))) {
      demands.back().reentrant = true;
      demands.back().group = 4 + i;
      demands.back().releases.jitter =
          demands.back().releases.period * (count < 3 && random.chance(0.5) ? 1 : 0);
    }
    set += "; C " + std::to_string(execution) + " T " +
           std::to_string(demands.back().releases.period.count()) + " J " +
           std::to_string(demands.back().releases.jitter.count()) + " group " +
           std::to_string(demands.back().group);
  }
  if (interrupts) {
    const std::int64_t execution = random.number(1, 2);
    demands.push_back({.task = count,
                       .group = 9,
                       .releases = {.period = nanoseconds{random.number(4, 6) * execution}},
                       .execution = nanoseconds{execution},
                       .interrupt = true});
    set += "; interrupts C " + std::to_string(execution) + " T " +
           std::to_string(demands.back().releases.period.count());
  }
  Effort effort;
  const std::vector<Response> bounds =
      thread_responses(demands, effort, Supply::of_threads(static_cast<std::int64_t>(threads)));
  if (!std::ranges::all_of(std::span{bounds}.first(count),
                           [](const Response& one) { return one.bound.has_value(); })) {
    return;
  }
  const std::vector<std::int64_t> longest = EveryRunOfThreads{demands, threads}.run().responses;
  held.interrupted += !longest.empty() && demands.back().interrupt ? 1 : 0;
  for (std::size_t i = 0; i < std::min(longest.size(), count); ++i) {
    EXPECT_LE(longest[i], bounds[i].bound->count()) << "callback " << i << " of " << set;
    held.reached += longest[i] == bounds[i].bound->count() ? 1 : 0;
    held.reentrant += demands[i].reentrant ? 1 : 0;
    ++held.bounded;
  }
}

Held hold_all(bool reentrant) {
  Held held;
  const std::uint64_t end = first_seed() + static_cast<std::uint64_t>(rounds(60));
  for (std::uint64_t seed = first_seed(); seed < end && !testing::Test::HasFailure(); ++seed) {
    hold(seed, reentrant, held);
  }
  std::cout << held.reached << " of " << held.bounded << " bounds are reached\n";
  EXPECT_GT(held.interrupted, 0);
  EXPECT_GT(held.bounded, rounds(60));
  EXPECT_GT(held.reached, rounds(20));
  return held;
}

TEST(threads, no_run_of_small_sets_is_above_the_bound) {
  hold_all(false);
}

TEST(threads, no_run_of_small_sets_with_reentrant_groups_is_above_the_bound) {
  EXPECT_GT(hold_all(true).reentrant, rounds(30));
}

}  // namespace
}  // namespace takt::analysis
