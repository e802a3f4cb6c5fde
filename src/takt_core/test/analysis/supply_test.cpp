// SPDX-License-Identifier: Apache-2.0
//
// The supply bound function, and bounds on a core with it, computed by hand.
#include "takt/analysis/supply.hpp"

#include <gtest/gtest.h>

#include <string>

#include "analysis/documents.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/analysis/core.hpp"
#include "takt/analysis/edf.hpp"
#include "takt/analysis/fixed_priority.hpp"

namespace takt::analysis {
namespace {

Supply periodic(std::int64_t budget, std::int64_t period) {
  return Supply{{.supply = application::Supply{.budget = nanoseconds{budget},
                                               .period = nanoseconds{period}}}};
}

Supply bounded_delay(double rate, std::int64_t delay) {
  constexpr double whole = application::Supply::whole;
  return Supply{{.supply = application::Supply{.rate = static_cast<std::int64_t>(rate * whole),
                                               .delay = nanoseconds{delay}}}};
}

// Nothing in [0, 2), 4 in [2, 6), nothing in [6, 7), 4 in [7, 11), nothing in [11, 12).
TEST(supply, a_periodic_resource_gives_its_budget_early_once_and_late_from_then_on) {
  const Supply supply = periodic(4, 5);
  const std::vector<std::int64_t> times = {0, 3, 4, 5, 6, 8, 9, 10, 11, 13};
  for (std::size_t work = 0; work < times.size(); ++work) {
    EXPECT_EQ(supply.time_for(nanoseconds{work}), nanoseconds{times[work]}) << work;
  }
  EXPECT_EQ(supply.start_after(nanoseconds{0}), nanoseconds{2});
  EXPECT_EQ(supply.start_after(nanoseconds{4}), nanoseconds{7});
  EXPECT_EQ(supply.start_after(nanoseconds{5}), nanoseconds{8});
}

TEST(supply, a_bounded_delay_gives_its_rate_after_the_delay) {
  const Supply supply = bounded_delay(0.75, 3);
  EXPECT_EQ(supply.time_for(nanoseconds{0}), nanoseconds{0});
  EXPECT_EQ(supply.time_for(nanoseconds{1}), nanoseconds{5});
  EXPECT_EQ(supply.time_for(nanoseconds{3}), nanoseconds{7});
  EXPECT_EQ(supply.time_for(nanoseconds{4}), nanoseconds{9});
}

TEST(supply, a_whole_core_gives_all_of_its_time) {
  for (const Supply& supply : {Supply{}, periodic(5, 5), bounded_delay(1, 0)}) {
    EXPECT_TRUE(supply.whole());
    EXPECT_TRUE(supply.undisturbed());
    EXPECT_EQ(supply.time_for(nanoseconds{7}), nanoseconds{7});
  }
}

// By the definition: the least supply of any window, for every placement of the budget.
TEST(supply, is_the_least_of_any_window_of_a_periodic_resource) {
  for (std::int64_t period = 1; period <= 7; ++period) {
    for (std::int64_t budget = 1; budget <= period; ++budget) {
      // Early in the first period, late in all others.
      std::vector<bool> given;
      for (std::int64_t t = 0; t < 12 * period; ++t) {
        given.push_back(t < period ? t < budget : t % period >= period - budget);
      }
      const Supply supply = periodic(budget, period);
      for (std::int64_t work = 1; work <= 3 * budget; ++work) {
        std::int64_t longest = 0;
        for (std::int64_t begin = 0; begin < 3 * period; ++begin) {
          std::int64_t done = 0;
          std::int64_t t = begin;
          for (; done < work; ++t) {
            done += given[static_cast<std::size_t>(t)] ? 1 : 0;
          }
          longest = std::max(longest, t - begin);
        }
        EXPECT_EQ(supply.time_for(nanoseconds{work}), nanoseconds{longest})
            << budget << " in " << period << ", work " << work;
      }
    }
  }
}

std::vector<Demand> two_demands(std::int64_t second_deadline) {
  return {{.task = 0,
           .releases = {.period = nanoseconds{10}},
           .execution = nanoseconds{3},
           .deadline = nanoseconds{5},
           .level = 2},
          {.task = 1,
           .releases = {.period = nanoseconds{20}},
           .execution = nanoseconds{4},
           .deadline = nanoseconds{second_deadline},
           .level = 1}};
}

// 4 in 5: the first 3 are done at 5; 7 at 10, before the second release counts.
TEST(supply, bounds_of_fixed_priorities_on_both_sides_of_a_threshold) {
  Effort effort;
  const Supply supply = periodic(4, 5);
  const auto responses = fixed_priority_responses(two_demands(10), effort, supply);
  EXPECT_EQ(responses[0].bound, nanoseconds{5});
  EXPECT_EQ(responses[1].bound, nanoseconds{10});
  EXPECT_TRUE(fixed_priority_accepts(two_demands(10), effort, supply));
  EXPECT_FALSE(fixed_priority_accepts(two_demands(9), effort, supply));
  EXPECT_TRUE(fixed_priority_accepts(two_demands(7), effort));
}

// h(5) = 3: 5; h(10) = 7: 10; h(15) = 10: 14; h(25) = 13: 18. With D = 9, h(9) = 7: 10 > 9.
TEST(supply, edf_demand_on_both_sides_of_a_threshold) {
  Effort effort;
  const Supply supply = periodic(4, 5);
  EXPECT_EQ(edf_demand(two_demands(10), true, effort, supply).outcome, DemandTest::Outcome::met);
  const DemandTest late = edf_demand(two_demands(9), true, effort, supply);
  EXPECT_EQ(late.outcome, DemandTest::Outcome::exceeded);
  EXPECT_EQ(late.at, nanoseconds{9});
  EXPECT_EQ(edf_responses(two_demands(10), true, effort, supply)[1].bound, nanoseconds{10});
}

// 0.7 after 3, utilization 0.5: (3 + 3 / 0.7) = 7.3. After 0.5 there is no end.
TEST(supply, bounds_with_a_bounded_delay_on_both_sides_of_its_rate) {
  Effort effort;
  EXPECT_EQ(fixed_priority_responses(two_demands(20), effort, bounded_delay(0.7, 3))[0].bound,
            nanoseconds{8});
  EXPECT_TRUE(overloaded(two_demands(20), bounded_delay(0.49, 3)));
  EXPECT_FALSE(overloaded(two_demands(20), bounded_delay(0.5, 3)));
  EXPECT_FALSE(fixed_priority_responses(two_demands(20), effort, bounded_delay(0.5, 3))[1]
                   .bound.has_value());
  EXPECT_TRUE(fixed_priority_responses(two_demands(20), effort, bounded_delay(0.51, 3))[1]
                  .bound.has_value());
}

// 2 in 3, and two jobs above of 1 each, every 5: they are done at 4, when the core is away. The
// choice may wait until it is back at 5, with two more of them: 4 units are done at 7, and the last
// job, not preempted, begins at 8. A start at 4 would give 6.
TEST(supply, a_job_starts_when_it_gets_its_first_moment) {
  const auto above = [](std::size_t task) {
    return Demand{.task = task,
                  .releases = {.period = nanoseconds{5}},
                  .execution = nanoseconds{1},
                  .level = 2,
                  .ceiling = interrupt_level - 1};
  };
  const std::vector<Demand> demands = {{.task = 0,
                                        .releases = {.period = nanoseconds{12}},
                                        .execution = nanoseconds{1},
                                        .level = 1,
                                        .ceiling = interrupt_level - 1},
                                       above(1),
                                       above(2)};
  Effort effort;
  EXPECT_EQ(fixed_priority_response(demands, 0, effort, periodic(2, 3)).bound, nanoseconds{9});
}

// 3 in 5: a lower job of 1 may have been chosen and got nothing. Its 1 and 3 are done at 10.
TEST(supply, a_job_that_blocks_may_have_computed_nothing) {
  const std::vector<Demand> demands = {{.task = 0,
                                        .releases = {.period = nanoseconds{12}},
                                        .execution = nanoseconds{3},
                                        .level = 2,
                                        .ceiling = interrupt_level - 1},
                                       {.task = 1,
                                        .releases = {.period = nanoseconds{20}},
                                        .execution = nanoseconds{1},
                                        .level = 1,
                                        .ceiling = interrupt_level - 1}};
  Effort effort;
  const Response response = fixed_priority_response(demands, 0, effort, periodic(3, 5));
  EXPECT_EQ(response.blocking, nanoseconds{1});
  EXPECT_EQ(response.bound, nanoseconds{10});
}

const std::string two =
    "{'name': 'n.a', 'period': 10000, 'deadline': 5000, 'priority': 2, 'execution': {'worst': "
    "3000}},"
    "{'name': 'n.b', 'period': 20000, 'deadline': 10000, 'priority': 1, 'execution': {'worst': "
    "4000}}";

Report on(const std::string& core, const std::string& policy = "fp") {
  return analyse(
      parsed(app(two, ", 'policy': '" + policy + "', 'cores': [{'cpu': 0, " + core + "}]")));
}

TEST(supply, is_named_by_bounds_and_by_the_verdict) {
  const Report report = on("'supply': {'budget': 4000, 'period': 5000}");
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(report.verdict, Verdict::meets);
  EXPECT_EQ(scenario.callbacks[1].response, nanoseconds{10'000});
  EXPECT_NE(scenario.callbacks[1].bound_by.find("Shin & Lee"), std::string::npos);
  EXPECT_FALSE(scenario.callbacks[1].exact);
  EXPECT_EQ(report.remarks.back(), "assuming the declared supply of core 0");
  EXPECT_GT(*scenario.sensitivity->all, 0.99);
  EXPECT_LT(*scenario.sensitivity->all, 1.01);
}

// 95 % is the share of runs in which no more than one of 100 windows is below where 4.7 % are.
TEST(supply, that_was_measured_is_an_assumption_with_its_confidence) {
  const std::string measured = ", 'measured': {'windows': 100, 'window': 50000000}";
  const Report report = on("'supply': {'budget': 4000, 'period': 5000}" + measured);
  EXPECT_EQ(report.remarks.back(),
            "assuming the measured supply of core 0 (100 windows of 50 ms; with 95 % confidence at "
            "most 4.66 % provide less)");
}

// Utilization 0.5 is no proof of a miss where more may be supplied than declared.
TEST(supply, below_the_utilization_proves_nothing) {
  for (const auto* const policy : {"fp", "edf", "np-edf"}) {
    const Report report = on("'supply': {'rate': 400000000, 'delay': 1000}", policy);
    EXPECT_EQ(report.verdict, Verdict::not_proved) << policy;
    EXPECT_NE(report.scenarios.front().cores.front().bound_by.find("rate of the supply"),
              std::string::npos)
        << policy;
  }
}

// Two at once and one each 4 us, 500 ns each: 3000 + 2 * 500 = 4000 at 4000; 7000 at 10'000 with
// 4 more in (0, 10'000).
TEST(supply, interrupts_take_time_from_every_callback) {
  const Report report = on("'interrupts': [{'period': 4000, 'duration': 500, 'burst': 2}]");
  const auto& callbacks = report.scenarios.front().callbacks;
  EXPECT_EQ(callbacks[0].response, nanoseconds{4000});
  EXPECT_EQ(callbacks[1].response, nanoseconds{7000 + (4 * 500)});
  EXPECT_NE(callbacks[0].bound_by.find("interrupts"), std::string::npos);
}

TEST(supply, latency_counts_once_a_job) {
  const auto responses = on("'latency': 200").scenarios.front().callbacks;
  EXPECT_EQ(responses[0].response, nanoseconds{3200});
  EXPECT_EQ(responses[1].response, nanoseconds{7400});
}

// A callback that misses if the core provides no more than declared need not miss.
TEST(supply, proves_no_miss) {
  for (const auto* const policy : {"fp", "edf", "np-fp", "np-edf", "p-rm", "cw-edf"}) {
    EXPECT_EQ(on("'supply': {'budget': 3000, 'period': 5000}", policy).verdict, Verdict::not_proved)
        << policy;
    EXPECT_EQ(on("'latency': 2500", policy).verdict, Verdict::not_proved) << policy;
  }
}

// No run of a schedule graph is known to happen.
TEST(supply, leaves_no_schedule_graph) {
  const Report report = on("'supply': {'budget': 4000, 'period': 5000}", "cw-edf");
  EXPECT_EQ(report.verdict, Verdict::not_proved);
  const auto& remarks = report.scenarios.front().remarks;
  EXPECT_TRUE(std::ranges::any_of(remarks, [](const std::string& remark) {
    return remark.find("withheld or interrupted") != std::string::npos;
  }));
}

}  // namespace
}  // namespace takt::analysis
