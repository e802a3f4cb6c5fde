// SPDX-License-Identifier: Apache-2.0
//
// A subscription whose callback several jobs may run: one at a time, and the others wait.
#include <gtest/gtest.h>

#include "analysis/documents.hpp"

namespace takt::analysis {
namespace {

using namespace std::chrono_literals;

const std::string topics = ", 'topics': [{'name': 'x', 'depth': 2}]";

// A writer, the callback of a subscription, and a timer of its node that reads the topic.
std::string three(int message_priority, int reader_priority, const std::string& of_message = "",
                  const std::string& of_reader = "") {
  return timer("w", 1000, 1, 9, ", 'writes': ['x'], 'node': 'a'") + "," +
         message("m", "x", 20, message_priority, ", 'node': 'b', 'deadline': 500" + of_message) +
         "," +
         timer("r", 1000, 3, reader_priority,
               ", 'reads': [{'topic': 'x'}], 'node': 'b'" + of_reader);
}

TEST(deliveries, a_reader_pays_for_what_it_delivers) {
  const ScenarioReport scenario = analyse_json(app(three(5, 5), topics)).scenarios.front();
  EXPECT_EQ(callback(scenario, "r").wcet, 3ns + 40ns);
  EXPECT_EQ(callback(scenario, "m").wcet, 20ns);
  EXPECT_TRUE(contains(scenario.remarks, "'r' runs 'm' before itself, up to 2 times"));
  EXPECT_FALSE(contains(scenario.remarks, "wait for its end"));
}

TEST(deliveries, a_job_that_preempts_a_delivery_waits_for_its_end) {
  const ScenarioReport above = analyse_json(app(three(5, 6), topics)).scenarios.front();
  EXPECT_EQ(callback(above, "r").wcet, 3ns + 40ns + 20ns);
  EXPECT_EQ(callback(above, "m").wcet, 20ns);
  EXPECT_TRUE(contains(above.remarks, "'r' may find 'm' running and wait for its end"));
  const ScenarioReport below = analyse_json(app(three(6, 5), topics)).scenarios.front();
  EXPECT_EQ(callback(below, "r").wcet, 3ns + 40ns);
  EXPECT_EQ(callback(below, "m").wcet, 20ns + 20ns);
  // Nobody preempts anybody.
  const ScenarioReport np =
      analyse_json(app(three(5, 6), topics + ", 'policy': 'np-fp'")).scenarios.front();
  EXPECT_EQ(callback(np, "r").wcet, 3ns + 40ns);
  const std::string group = ", 'group': 'g'";
  const ScenarioReport one = analyse_json(app(three(5, 6, group, group), topics)).scenarios.front();
  EXPECT_EQ(callback(one, "r").wcet, 3ns + 40ns);
}

TEST(deliveries, of_different_cores_wait_for_each_other_and_nothing_is_proved) {
  const std::string cores = topics + ", 'cpus': [0, 1, 2]";
  const Report report = analyse_json(app(
      three(5, 5, ", 'cpu': 0", ", 'cpu': 1") + "," + timer("z", 100, 1, 1, ", 'cpu': 2"), cores));
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(report.verdict, Verdict::not_proved);
  EXPECT_EQ(callback(scenario, "r").verdict, Verdict::not_proved);
  EXPECT_EQ(callback(scenario, "r").response, std::nullopt);
  EXPECT_EQ(callback(scenario, "r").bound_by, "not bounded: see the notes");
  EXPECT_EQ(callback(scenario, "m").verdict, Verdict::not_proved);
  EXPECT_EQ(callback(scenario, "z").verdict, Verdict::meets);
  EXPECT_TRUE(contains(scenario.remarks, "'m' is run by several callbacks on different cores"));
  EXPECT_FALSE(accepts(parsed(app(three(5, 5, ", 'cpu': 0", ", 'cpu': 1"), cores))));
  // In different nodes they have subscriptions of their own.
  const Report apart = analyse_json(
      app(timer("w", 1000, 1, 9, ", 'writes': ['x'], 'cpu': 0") + "," +
              message("m", "x", 20, 5, ", 'node': 'b', 'deadline': 500, 'cpu': 0") + "," +
              timer("r", 1000, 3, 5, ", 'reads': [{'topic': 'x'}], 'node': 'c', 'cpu': 1"),
          cores));
  EXPECT_EQ(apart.verdict, Verdict::meets);
}

TEST(deliveries, a_callback_that_waits_keeps_its_subscription_meanwhile) {
  const Report report = analyse_json(app(three(5, 5, ", 'suspension': 7"), topics));
  EXPECT_EQ(report.verdict, Verdict::not_proved);
  EXPECT_TRUE(contains(report.scenarios.front().remarks, "waits itself, and who comes second"));
  const Report without_others = analyse_json(
      app(timer("w", 1000, 1, 9, ", 'writes': ['x']") + "," +
              message("m", "x", 20, 5, ", 'node': 'b', 'deadline': 500, 'suspension': 7"),
          topics));
  EXPECT_EQ(without_others.verdict, Verdict::meets);
}

// Nothing says that the queue was full, nor that somebody was in the way.
TEST(deliveries, what_may_be_delivered_is_no_proof_of_a_missed_deadline) {
  const std::string late = ", 'deadline': 50";
  const ScenarioReport scenario =
      analyse_json(app(three(5, 6, "", late), topics)).scenarios.front();
  EXPECT_EQ(callback(scenario, "r").verdict, Verdict::not_proved);
  EXPECT_FALSE(callback(scenario, "r").exact);
  const std::string inactive = ", 'active': false";
  const ScenarioReport full =
      analyse_json(app(three(5, 5, inactive, ", 'period': 42"), topics)).scenarios.front();
  EXPECT_EQ(full.verdict, Verdict::not_proved);
}

// Who is not released in a scenario still has its callback run by who reads.
TEST(deliveries, an_inactive_callback_of_a_subscription_is_delivered_to_all_the_same) {
  const ScenarioReport scenario =
      analyse_json(app(three(5, 6, ", 'active': false"), topics)).scenarios.front();
  EXPECT_EQ(callback(scenario, "r").wcet, 3ns + 40ns);
}

}  // namespace
}  // namespace takt::analysis
