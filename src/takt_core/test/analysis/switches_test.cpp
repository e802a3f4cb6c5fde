// SPDX-License-Identifier: Apache-2.0
//
// Limits around a switch of the scenario: kept where the densest releases of all scenarios keep
// them, else not proved, with the reason.
#include <gtest/gtest.h>

#include "documents.hpp"

namespace takt::analysis {
namespace {

using namespace std::chrono_literals;

SwitchReport switches(const std::string& callbacks, const std::string& change,
                      const std::string& more = "") {
  return *analyse_json(app(callbacks, ", 'scenarios': [{'name': 'one'}, {'name': 'two', " + change +
                                          "}]" + more))
              .switches;
}

std::string changed(const std::string& task, const std::string& change) {
  return "'tasks': [{'task': '" + task + "', " + change + "}]";
}

void expect_not_proved(const SwitchReport& report, const std::string& reason) {
  EXPECT_EQ(report.verdict, Verdict::not_proved);
  EXPECT_NE(report.bound_by.find(reason), std::string::npos) << report.bound_by;
}

const std::string two = timer("a", 20, 5, 2) + "," + timer("b", 40, 10, 1);

TEST(switches, of_one_scenario_there_are_none) {
  EXPECT_FALSE(analyse_json(app(two)).switches);
}

TEST(switches, are_proved_by_the_densest_releases_of_all_scenarios) {
  for (const std::string policy : {"fp", "np-fp", "edf", "np-edf", "p-rm", "cw-edf"}) {
    const std::string more = ", 'policy': '" + policy + "'";
    const SwitchReport report = switches(two, changed("a", "'period': 30"), more);
    EXPECT_EQ(report.verdict, Verdict::meets) << policy << ": " << report.bound_by;
  }
  // Either alone meets its deadlines: 7 of 10, and 5 of 20 with 20 of 40.
  const SwitchReport both =
      switches(timer("a", 20, 5, 2) + "," + timer("b", 40, 20, 1),
               "'tasks': [{'task': 'a', 'period': 10, 'expected_execution': 7}, {'task': 'b', "
               "'expected_execution': 10}]");
  expect_not_proved(both, "above a deadline");
}

TEST(switches, that_are_not_proved_are_the_verdict_of_the_whole) {
  const Report report =
      analyse_json(app(two, ", 'scenarios': [{'name': 'one'}, {'name': 'two', 'policy': 'edf'}]"));
  EXPECT_EQ(report.scenarios[0].verdict, Verdict::meets);
  EXPECT_EQ(report.scenarios[1].verdict, Verdict::meets);
  EXPECT_EQ(report.verdict, Verdict::not_proved);
}

TEST(switches, say_what_the_bound_does_not_cover) {
  expect_not_proved(switches(two, "'policy': 'edf'"), "do not order jobs alike");
  expect_not_proved(switches(two, changed("a", "'active': false")), "in some scenarios only");
  expect_not_proved(switches(two, changed("a", "'overrun': 'catch_up'")), "overrun changes");
  expect_not_proved(switches(two, "'policy': 'np-edf'", ", 'policy': 'cw-edf'"),
                    "do not order jobs alike");
  // Under p-rm the core is left idle at 10 for a, whose job would otherwise be late.
  expect_not_proved(switches(timer("a", 20, 5, 2) + "," + timer("b", 60, 20, 1),
                             changed("b", "'period': 120"), ", 'policy': 'p-rm'"),
                    "above a deadline");
  expect_not_proved(switches(timer("a", 20, 5, 2, ", 'group': 'g'"), changed("a", "'period': 30")),
                    "exclusive group");
  expect_not_proved(
      switches(timer("a", 20, 5, 2, ", 'suspension': 1"), changed("a", "'period': 30")), "waits");
  expect_not_proved(switches(timer("a", 20, 5, 2, ", 'writes': ['x']") + "," +
                                 message("m", "x", 1, 1, ", 'deadline': 20"),
                             changed("a", "'priority': 9")),
                    "released by messages");
}

// Under the second scenario the job of d may wait for 10, and then its next one is due after 3.
// In scenario one the topic comes from outside alone; in two its data is older than one allows.
TEST(switches, do_not_bring_the_topics_of_one_scenario_to_the_run_of_another) {
  const Report report = analyse_json(
      app(timer("a", 10, 5, 2) + "," + timer("b", 20, 4, 1, ", 'jitter': 3") + "," +
              timer("c", 20, 4, 1, ", 'deadline': 5"),
          ", 'policy': 'np-edf', 'topics': [{'name': 'x', 'external': true}], 'scenarios': ["
          "{'name': 'one', 'tasks': [{'task': 'b', 'reads': [{'topic': 'x', 'max_age': 3}]}]}, "
          "{'name': 'two', 'tasks': [{'task': 'a', 'writes': ['x']}]}]"));
  EXPECT_EQ(report.scenarios[0].deadlines, Verdict::not_proved);
  EXPECT_EQ(report.scenarios[1].deadlines, Verdict::not_proved);
  expect_not_proved(*report.switches, "above a deadline");
}

TEST(switches, under_edf_keep_the_jobs_of_a_callback_in_the_order_of_their_deadlines) {
  const auto report = [](int deadline) {
    return switches(timer("a", 20, 10, 4) + "," + timer("b", 50, 10, 2) + "," +
                        timer("c", 40, 8, 3) + "," + timer("d", 30, 3, 2),
                    changed("d", "'deadline': " + std::to_string(deadline)), ", 'policy': 'edf'");
  };
  EXPECT_EQ(report(60).verdict, Verdict::meets);
  expect_not_proved(report(61), "which it waits for");
}

TEST(switches, of_priorities_count_who_is_above_in_any_scenario) {
  const auto report = [](int worst) {
    return switches(timer("a", 20, 5, 2) + "," + timer("b", 40, worst, 1),
                    changed("b", "'priority': 9"));
  };
  EXPECT_EQ(report(10).verdict, Verdict::meets);
  expect_not_proved(report(16), "above a deadline");  // 5 and 16 in 20
}

TEST(switches, chains_wait_for_the_longest_period_of_all_scenarios) {
  const auto report = [](int latency) {
    return switches(timer("a", 20, 5, 2, ", 'writes': ['x']") + "," +
                        timer("b", 40, 10, 1, ", 'reads': [{'topic': 'x'}]"),
                    changed("b", "'period': 60"),
                    ", 'chains': [{'name': 'ab', 'callbacks': ['a', 'b'], 'max_latency': " +
                        std::to_string(latency) + "}]");
  };
  EXPECT_EQ(report(75).verdict, Verdict::meets);
  expect_not_proved(report(74), "chain 'ab'");
}

}  // namespace
}  // namespace takt::analysis
