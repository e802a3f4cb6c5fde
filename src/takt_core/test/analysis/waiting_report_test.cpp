// SPDX-License-Identifier: Apache-2.0
//
// What a report says about an application with callbacks that wait.
#include <gtest/gtest.h>

#include "analysis/documents.hpp"
#include "takt/sched/error.hpp"

namespace takt::analysis {
namespace {

using namespace std::chrono_literals;

std::string waits(int suspension) {
  return ", 'suspension': " + std::to_string(suspension);
}

TEST(waiting_report, waiting_is_part_of_the_response_and_delays_those_below_by_computing) {
  const Report report =
      analyse_json(app(timer("top", 100, 1, 9) + "," + timer("lidar", 100, 2, 5, waits(50)) + "," +
                       timer("control", 10, 3, 1)));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(report.verdict, Verdict::meets);
  EXPECT_EQ(callback(scenario, "lidar").suspension, 50ns);
  EXPECT_EQ(callback(scenario, "lidar").wcet, 2ns);
  EXPECT_EQ(callback(scenario, "lidar").response, 53ns);
  EXPECT_EQ(callback(scenario, "control").response, 6ns);
  EXPECT_NEAR(scenario.cores.front().utilization, 0.33, 1e-9);
  const std::string method = "busy period with self-suspension (Chen et al. 2019), eq. 13";
  EXPECT_EQ(callback(scenario, "lidar").bound_by, method);
  EXPECT_EQ(callback(scenario, "control").bound_by, method);
  EXPECT_NE(callback(scenario, "top").bound_by, method);
  EXPECT_TRUE(callback(scenario, "top").exact);
  EXPECT_FALSE(callback(scenario, "lidar").exact);
  EXPECT_FALSE(callback(scenario, "control").exact);
}

TEST(waiting_report, only_what_waits_beyond_its_deadline_is_certain_to_miss_it) {
  const Report late =
      analyse_json(app(timer("a", 100, 2, 2, waits(99)) + "," + timer("b", 9, 1, 1)));
  EXPECT_EQ(callback(late.scenarios.front(), "a").verdict, Verdict::misses);
  const Report unknown =
      analyse_json(app(timer("a", 100, 2, 1, waits(97)) + "," + timer("b", 50, 1, 2)));
  EXPECT_EQ(callback(unknown.scenarios.front(), "a").verdict, Verdict::not_proved);
}

// The best case of a writer that waits is that it need not wait at all.
TEST(waiting_report, messages_of_a_writer_that_waits_come_as_irregularly_as_it_waits) {
  const Report report = analyse_json(
      app(timer("w", 100, 4, 9, waits(30) + ", 'writes': ['x']") + "," + message("m", "x", 2, 5)));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(callback(scenario, "w").response, 34ns);
  EXPECT_EQ(callback(scenario, "m").jitter, 30ns);
}

// While the writer waits the reader starts, with the data of the period before.
TEST(waiting_report, a_writer_that_waits_does_not_always_end_before_its_readers) {
  const auto age_of = [](const std::string& more) {
    return analyse_json(app(timer("s", 10, 2, 90, ", 'writes': ['x']" + more) + "," +
                                timer("r", 20, 3, 80, ", 'reads': [{'topic': 'x', 'max_age': 50}]"),
                            ", 'chains': [{'name': 'c', 'callbacks': ['s', 'r']}]"))
        .scenarios.front();
  };
  const ScenarioReport without = age_of("");
  EXPECT_EQ(without.ages.front().age, 10ns);
  EXPECT_EQ(without.chains.front().latency, 20ns + 5ns);
  const ScenarioReport with = age_of(waits(4));
  EXPECT_EQ(with.ages.front().age, 10ns + 6ns);
  // One more job of the writer may come before the reader's: it has waited for 4.
  EXPECT_EQ(with.chains.front().latency, 6ns + 20ns + 5ns);
}

TEST(waiting_report, early_releases_keep_no_age_where_the_source_waits) {
  const auto age_of = [](const std::string& more) {
    return analyse_json(app(timer("s", 50, 2, 90, ", 'writes': ['x']" + more) + "," +
                            timer("r", 20, 3, 80, ", 'reads': [{'topic': 'x', 'max_age': 25}]")))
        .scenarios.front()
        .ages.front();
  };
  EXPECT_EQ(age_of("").verdict, Verdict::meets);
  EXPECT_EQ(age_of(waits(5)).verdict, Verdict::not_proved);
}

// Each time that a job goes on it may preempt somebody.
TEST(waiting_report, nothing_is_proved_where_nobody_says_how_often_a_job_waits) {
  const auto analysed = [](const std::string& more, const std::string& overheads) {
    return analyse_json(app(timer("a", 100, 10, 2, waits(5) + more) + "," + timer("b", 200, 20, 1),
                            ", 'overheads': {'" + overheads + "': 2}"));
  };
  const std::string remark = "how often 'a' waits in a job is not declared";
  const Report unknown = analysed("", "preemption");
  EXPECT_EQ(unknown.verdict, Verdict::not_proved);
  EXPECT_FALSE(callback(unknown.scenarios.front(), "b").response);
  EXPECT_TRUE(contains(unknown.scenarios.front().remarks, remark));
  EXPECT_EQ(analysed("", "dispatch").verdict, Verdict::meets);
  const Report answer = analysed(", 'suspensions': 4", "preemption");
  EXPECT_EQ(answer.verdict, Verdict::meets);
  EXPECT_FALSE(contains(answer.scenarios.front().remarks, "how often"));
}

TEST(waiting_report, sensitivity_and_proposals_know_of_it) {
  const Report wrong = analyse_json(
      app(timer("a", 100, 10, 5, waits(30)) + "," + timer("b", 20, 8, 3, ", 'deadline': 10")));
  const ScenarioReport& scenario = wrong.scenarios.front();
  EXPECT_EQ(callback(scenario, "b").verdict, Verdict::not_proved);
  ASSERT_EQ(scenario.priorities.size(), 2U);
  EXPECT_EQ(scenario.priorities.front(), (std::pair<std::string, int>{"b", 98}));
  EXPECT_LT(*scenario.sensitivity->all, 1);
  const Report longer = analyse_json(app(timer("a", 1000, 100, 5, waits(400))));
  EXPECT_NEAR(*longer.scenarios.front().sensitivity->all, 6, 0.01);
}

TEST(waiting_report, policies_without_a_rule_for_it_are_refused) {
  for (const char* policy : {"edf", "np-fp", "np-edf", "p-rm", "cw-edf"}) {
    const std::string more = std::string{", 'policy': '"} + policy + "'";
    EXPECT_THROW(analyse_json(app(timer("a", 100, 10, 5, waits(1)), more)), sched::ScheduleError);
  }
}

}  // namespace
}  // namespace takt::analysis
