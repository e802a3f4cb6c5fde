// SPDX-License-Identifier: Apache-2.0
//
// One walk along the deadlines gives the responses that the definition gives (Spuri 1996), which
// looks at each demand and each distance of its release from the beginning of the busy period.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/random_tasks.hpp"
#include "takt/analysis/edf.hpp"

namespace takt::analysis {
namespace {

std::vector<Demand> draw_demands(RandomTasks& random) {
  std::vector<Demand> demands;
  const auto count = random.number(1, 8);
  const bool interrupts = random.chance(0.3);
  for (std::int64_t i = 0; i < count; ++i) {
    Demand demand = draw_demand(random, i, count, 1);
    demand.deadline = nanoseconds{random.number(1, 3 * demand.releases.period.count())};
    demand.interrupt = interrupts && random.chance(0.4);
    demands.push_back(demand);
  }
  // The shorter the relative deadline, the higher the level; nobody holds a group.
  for (Demand& demand : demands) {
    demand.level = static_cast<sched::Level>(1000 - demand.deadline.count());
  }
  return demands;
}

// Of all but `own`, what takes time from a job that is due at `due`, in [0, time).
nanoseconds of_others(const std::vector<Demand>& demands, std::size_t own, nanoseconds due,
                      nanoseconds time) {
  nanoseconds sum{0};
  for (std::size_t j = 0; j < demands.size(); ++j) {
    const Demand& other = demands[j];
    if (j == own) {
      continue;
    }
    std::int64_t count = other.noticed().open(time);
    const nanoseconds window = due - (other.deadline - other.lag);
    if (!other.interrupt) {
      count = std::min(count, window.count() < 0 ? 0 : other.releases.closed(window));
    }
    sum += count * other.execution;
  }
  return sum;
}

nanoseconds busy_period(const std::vector<Demand>& demands) {
  nanoseconds time{1};
  for (;;) {
    const nanoseconds next = of_others(demands, demands.size(), never / 4, time);
    if (next <= time) {
      return time;
    }
    time = next;
  }
}

nanoseconds by_definition(const std::vector<Demand>& demands, std::size_t own, nanoseconds busy) {
  const Demand& demand = demands[own];
  nanoseconds worst = demand.execution;
  for (nanoseconds at{0}; at < busy; ++at) {
    const nanoseconds due = at + demand.deadline - demand.lag;
    const nanoseconds work = demand.releases.closed(at) * demand.execution;
    nanoseconds end = work;
    for (nanoseconds next = end;; end = next) {
      next = work + of_others(demands, own, due, end);
      if (next <= end) {
        break;
      }
    }
    worst = std::max(worst, end - at);
  }
  return worst + demand.lag;
}

constexpr nanoseconds longest_time{20000};

TEST(edf, responses_are_those_of_the_definition) {
  RandomTasks random{first_seed()};
  int compared = 0;
  int interrupts = 0;
  int late = 0;  // noticed late, so that more than one is there at first
  for (int set = 0; set < rounds(4000); ++set) {
    const std::vector<Demand> demands = draw_demands(random);
    Effort effort;
    const std::vector<Response> responses = edf_responses(demands, true, effort);
    if (full(demands)) {
      continue;  // how long it is busy depends on more
    }
    const nanoseconds busy = busy_period(demands);
    if (busy > longest_time) {
      continue;  // the definition looks at each nanosecond of it
    }
    for (std::size_t i = 0; i < demands.size(); ++i) {
      if (demands[i].interrupt) {
        ++interrupts;
        EXPECT_FALSE(responses[i].bound);
        continue;
      }
      ASSERT_EQ(responses[i].bound, by_definition(demands, i, busy)) << set << ", demand " << i;
      ++compared;
      late += demands[i].lag.count() > 0 && demands[i].releases.jitter.count() > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(compared, rounds(5000));
  EXPECT_GT(interrupts, rounds(300));
  EXPECT_GT(late, rounds(300));
}

}  // namespace
}  // namespace takt::analysis
