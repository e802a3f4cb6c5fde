// SPDX-License-Identifier: Apache-2.0
//
// Short cuts give the verdict of the whole test, whatever is asked before: random demands whose
// execution times change, by one demand or by all, shorter and longer.
#include "analysis/acceptance.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "analysis/random_supply.hpp"

namespace takt::analysis {
namespace {

using namespace std::chrono_literals;

using Random = std::mt19937_64;

std::int64_t draw(Random& random, std::int64_t from, std::int64_t to) {
  return std::uniform_int_distribution{from, to}(random);
}

std::vector<Demand> draw_demands(Random& random) {
  std::vector<Demand> demands;
  const auto count = draw(random, 1, 8);
  const auto levels = draw(random, 1, count);
  for (std::int64_t i = 0; i < count; ++i) {
    Demand demand{.task = static_cast<std::size_t>(i)};
    const nanoseconds period{draw(random, 4, 60)};
    demand.releases = {.period = period};
    if (draw(random, 0, 2) == 0) {
      demand.releases.jitter = nanoseconds{draw(random, 0, 2 * period.count())};
      demand.releases.distance = nanoseconds{draw(random, 0, period.count())};
    }
    demand.lag = nanoseconds{draw(random, 0, 3) == 0 ? draw(random, 0, period.count()) : 0};
    demand.execution = nanoseconds{draw(random, 0, 1 + 2 * period.count() / count)};
    demand.deadline = nanoseconds{draw(random, 1, 2 * period.count())};
    demand.level = static_cast<sched::Level>(draw(random, 1, levels));
    if (draw(random, 0, 2) == 0) {
      demand.ceiling = static_cast<sched::Level>(draw(random, 1, levels));
    }
    demands.push_back(demand);
  }
  if (draw(random, 0, 2) == 0) {  // without preemption
    for (Demand& demand : demands) {
      demand.ceiling = static_cast<sched::Level>(levels);
    }
  }
  return demands;
}

nanoseconds draw_execution(Random& random, nanoseconds declared) {
  return nanoseconds{draw(random, 0, 2 * declared.count() + 3)};
}

TEST(Acceptance, gives_the_verdict_of_the_whole_test) {
  int accepted = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Random random{seed};
    const std::vector<Demand> declared = draw_demands(random);
    const auto test = seed % 3 == 0 ? analysis::Test::edf : analysis::Test::fixed_priority;
    Effort of_all{.steps = 10'000'000};
    RandomTasks supplies{seed};
    const Supply supply = draw_supply(supplies);
    Acceptance acceptance{test, declared, supply};
    for (int question = 0; question < 6; ++question) {
      std::vector<Demand> demands = declared;
      if (draw(random, 0, 3) == 0) {
        for (Demand& demand : demands) {
          demand.execution = draw_execution(random, demand.execution);
        }
      } else {
        Demand& demand = demands[static_cast<std::size_t>(
            draw(random, 0, static_cast<std::int64_t>(demands.size()) - 1))];
        demand.execution = draw_execution(random, demand.execution);
      }
      const bool whole = accepts(test, demands, of_all, supply) == true;
      (whole ? accepted : refused) += 1;
      // What is known of earlier questions never refuses what is accepted.
      ASSERT_FALSE(whole && acceptance.is_refused_again(demands, of_all)) << "seed " << seed;
      ASSERT_EQ(acceptance.accepts(demands, of_all), whole) << "seed " << seed;
    }
  }
  EXPECT_GT(accepted, 10'000);
  EXPECT_GT(refused, 10'000);
}

// A job that keeps its core has to start early enough for what it computes now, not as declared.
TEST(Acceptance, counts_the_changed_execution_after_the_start) {
  const std::vector<Demand> declared = {
      {.task = 0, .releases = {.period = 60ns}, .execution = 1ns, .deadline = 60ns, .level = 2},
      {.task = 1,
       .releases = {.period = 60ns},
       .execution = 2ns,
       .deadline = 4ns,
       .level = 1,
       .ceiling = 2}};
  Acceptance acceptance{analysis::Test::fixed_priority, declared};
  Effort effort;
  std::vector<Demand> longer = declared;
  longer[1].execution = 3ns;
  EXPECT_TRUE(acceptance.accepts(longer, effort));
  longer[1].execution = 4ns;
  EXPECT_FALSE(acceptance.accepts(longer, effort));
}

}  // namespace
}  // namespace takt::analysis
