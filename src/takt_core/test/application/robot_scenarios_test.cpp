// SPDX-License-Identifier: Apache-2.0
//
// Scenarios that several processes follow, each by its own callbacks.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/documents.hpp"
#include "takt/application/bands.hpp"
#include "takt/sched/error.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::application {
namespace {

using analysis::app;
using analysis::parsed;
using analysis::timer;
using std::chrono::nanoseconds;

constexpr const char* two_scenarios =
    "[{'name': 'calm', 'tasks': []}, {'name': 'busy', 'tasks': [{'task': 'act', 'period': 5, "
    "'priority': 7}, {'task': 'see', 'expected_execution': 4}]}]";

// `act` above `see` and `log` on one core, in processes of their own.
Application changing(const std::string& scenarios = two_scenarios, const std::string& more = "",
                     const std::string& vision = "'policy': 'edf'") {
  return parsed(app(timer("act", 10, 2, 2, ", 'process': 'arm'") + ", " +
                        timer("hold", 40, 1, 5, ", 'process': 'arm'") + ", " +
                        timer("see", 20, 3, 1, ", 'process': 'eye'"),
                    ", 'processes': [{'name': 'arm', 'cpu': 0, 'priority': 40}, {'name': 'eye', "
                    "'cpu': 0, 'priority': 10, " +
                        vision + "}], 'scenarios': " + scenarios + more));
}

TEST(robot_scenarios, are_bounded_each_by_itself) {
  const analysis::Report report = analysis::analyse(changing());
  ASSERT_EQ(report.scenarios.size(), 2U);
  EXPECT_EQ(report.scenarios[0].name, "calm");
  EXPECT_EQ(analysis::callback(report.scenarios[0], "act").response, nanoseconds{3});
  EXPECT_EQ(analysis::callback(report.scenarios[0], "see").response, nanoseconds{6});
  EXPECT_EQ(report.scenarios[1].name, "busy");
  EXPECT_EQ(analysis::callback(report.scenarios[1], "act").response, nanoseconds{2});
  EXPECT_EQ(analysis::callback(report.scenarios[1], "see").response, nanoseconds{9});
  ASSERT_TRUE(report.switches);
  EXPECT_EQ(report.switches->verdict, analysis::Verdict::meets) << report.switches->bound_by;
}

// `see` has 3 + 4 with the shortest period of `act` and the longest execution of both: 4 + 3 * 2
// + 1.
TEST(robot_scenarios, are_proved_around_their_switches_up_to_the_shortest_deadline) {
  const auto switches = [](int deadline) {
    return *analysis::analyse(
                changing("[{'name': 'calm', 'tasks': []}, {'name': 'busy', 'tasks': [{'task': "
                         "'act', 'period': 5}, {'task': 'see', 'expected_execution': 4, "
                         "'deadline': " +
                         std::to_string(deadline) + "}]}]"))
                .switches;
  };
  EXPECT_EQ(switches(9).verdict, analysis::Verdict::meets);
  EXPECT_EQ(switches(8).verdict, analysis::Verdict::not_proved);
  EXPECT_NE(switches(8).bound_by.find("'see'"), std::string::npos) << switches(8).bound_by;
}

TEST(robot_scenarios, say_why_nothing_is_proved_around_their_switches) {
  const auto reason = [](const std::string& scenarios, const std::string& vision) {
    const analysis::Report report = analysis::analyse(changing(scenarios, "", vision));
    return report.switches->bound_by;
  };
  EXPECT_NE(reason(two_scenarios, "'policy': 'np-edf'").find("does not preempt"),
            std::string::npos);
  const std::string pauses =
      "[{'name': 'calm', 'tasks': []}, {'name': 'busy', 'tasks': [{'task': 'hold', 'active': "
      "false}]}]";
  EXPECT_NE(reason(pauses, "'policy': 'edf'").find("at least 40 ns from each switch to the next"),
            std::string::npos)
      << reason(pauses, "'policy': 'edf'");
}

TEST(robot_scenarios, a_single_one_is_proved_as_it_is) {
  const analysis::Report report =
      analysis::analyse(changing("[{'name': 'busy', 'tasks': [{'task': 'act', 'period': 5}]}]"));
  EXPECT_EQ(report.verdict, analysis::Verdict::meets);
  EXPECT_FALSE(report.switches);
}

TEST(robot_scenarios, are_switched_in_all_processes) {
  const sim::Options options{.duration = nanoseconds{200}};
  const auto jobs = [&](const std::string& more) {
    const sim::Result played = sim::simulate(changing(two_scenarios, more), options);
    return std::vector<std::uint64_t>{played.callbacks[0].jobs, played.callbacks[2].jobs};
  };
  EXPECT_EQ(jobs(""), (std::vector<std::uint64_t>{20, 10}));
  EXPECT_EQ(jobs(", 'default_scenario': 'busy'"), (std::vector<std::uint64_t>{40, 10}));
  EXPECT_EQ(jobs(", 'switches': [{'at': 100, 'scenario': 'busy'}]"),
            (std::vector<std::uint64_t>{30, 10}));
  const Application switched =
      changing(two_scenarios, ", 'switches': [{'at': 100, 'scenario': 'busy'}]");
  EXPECT_EQ(sim::simulate(switched, options).callbacks[2].response.max, nanoseconds{9});
}

TEST(robot_scenarios, keep_the_order_of_priorities_within_the_band_of_the_process) {
  const std::vector<Band> bands = bands_of(changing());
  ASSERT_EQ(bands[0].in_scenarios.size(), 2U);
  EXPECT_EQ(bands[0].in_scenarios[0], (std::vector<int>{40, 41, 0}));
  EXPECT_EQ(bands[0].in_scenarios[1], (std::vector<int>{42, 41, 0}));
  EXPECT_EQ(bands[0].most, 43);
  EXPECT_TRUE(bands[1].in_scenarios.empty());
  const auto own = scenarios_of_process(changing(), 0, bands[0]);
  ASSERT_TRUE(own);
  ASSERT_EQ(own->scenarios()[1]->tasks().size(), 2U);  // those of the process alone
  EXPECT_EQ(own->scenarios()[1]->tasks()[0].priority, 42);
  EXPECT_EQ(own->scenarios()[1]->tasks()[0].period, nanoseconds{5});
}

TEST(robot_scenarios, that_no_process_can_follow_are_refused) {
  const auto one = [](const std::string& keys) { return "[{'name': 'busy', " + keys + "}]"; };
  EXPECT_THROW(changing(one("'policy': 'edf', 'tasks': []")), sched::ScheduleError);
  EXPECT_THROW(changing(one("'tasks': [{'task': 'see', 'writes': ['image']}]")),
               sched::ScheduleError);
  const std::string slow = one("'tasks': [{'task': 'see', 'period': 40}]");
  EXPECT_NO_THROW(changing(slow));
  EXPECT_THROW(changing(slow, "", "'executor': 'rclcpp_events'"), sched::ScheduleError);
  EXPECT_THROW(analysis::analyse(changing(one("'tasks': [{'task': 'sea', 'period': 40}]"))),
               sched::ScheduleError);
}

}  // namespace
}  // namespace takt::application
