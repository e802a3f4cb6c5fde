// SPDX-License-Identifier: Apache-2.0
//
// Ages of what callbacks of a robot read.
#include <gtest/gtest.h>

#include <string>

#include "analysis/documents.hpp"
#include "takt/analysis/analyse.hpp"

namespace takt::analysis {
namespace {

// see samples every 40 and takes 2; plan reads it in another process, up to 20 later, every 60; it
// is released early for watch, which allows 10.
TEST(robot_reads, data_of_other_processes_has_the_age_of_its_chain_and_its_own_an_early_release) {
  const Report report = analyse_json(app(
      "{'name': 'see', 'process': 'a', 'period': 40, 'priority': 2, 'execution': {'worst': 2}, "
      "'writes': ['image']}, {'name': 'watch', 'process': 'a', 'period': 60, 'priority': 1, "
      "'execution': {'worst': 1}, 'reads': [{'topic': 'image', 'max_age': 10}]}, "
      "{'name': 'plan', 'process': 'b', 'period': 60, 'priority': 1, 'execution': {'worst': 3}, "
      "'reads': [{'topic': 'image', 'max_age': 100}]}",
      ", 'topics': [{'name': 'image'}], 'handover': {'least': 1, 'most': 20}, 'processes': "
      "[{'name': 'a', 'cpu': 0, 'priority': 40}, {'name': 'b', 'cpu': 1, 'priority': 40}]"));
  const ScenarioReport& all = report.scenarios.front();
  ASSERT_EQ(all.ages.size(), 2U);
  EXPECT_EQ(all.ages[0].callback, "watch");
  EXPECT_NE(all.ages[0].bound_by.find("early releases"), std::string::npos);
  EXPECT_EQ(all.ages[1].source, "see");
  EXPECT_NE(all.ages[1].bound_by.find("chains to it across processes"), std::string::npos);
  EXPECT_TRUE(all.ages[1].age.has_value());
  EXPECT_TRUE(all.chains.empty());
}

// rclcpp releases nobody early, so the age is that of the chain, which stays in its process.
TEST(robot_reads, data_of_the_own_process_does_not_cross_any) {
  const Report report = analyse_json(
      app("{'name': 'see', 'process': 'a', 'period': 40, 'execution': {'worst': 2}, "
          "'writes': ['image']}, {'name': 'watch', 'process': 'a', 'period': 60, "
          "'execution': {'worst': 1}, 'reads': [{'topic': 'image', 'max_age': 200}]}",
          ", 'topics': [{'name': 'image'}], 'handover': {'least': 1, 'most': 20}, 'processes': "
          "[{'name': 'a', 'executor': 'rclcpp_events', 'cpu': 0, 'priority': 40}]"));
  const ScenarioReport& all = report.scenarios.front();
  ASSERT_EQ(all.ages.size(), 1U);
  EXPECT_TRUE(all.ages[0].age.has_value());
  EXPECT_EQ(all.ages[0].bound_by.find("across processes"), std::string::npos);
  EXPECT_NE(all.ages[0].bound_by.find("eq. 10"), std::string::npos);
}

// Nobody knows when the topic comes from outside.
TEST(robot_reads, data_from_outside_has_no_age) {
  const Report report = analyse_json(
      app("{'name': 'plan', 'process': 'b', 'period': 60, 'priority': 1, 'execution': {'worst': 3},"
          " 'reads': [{'topic': 'image', 'max_age': 100}]}",
          ", 'topics': [{'name': 'image', 'external': true, 'external_period': 40}], 'processes': "
          "[{'name': 'b', 'cpu': 1, 'priority': 40}]"));
  const ScenarioReport& all = report.scenarios.front();
  ASSERT_EQ(all.ages.size(), 1U);
  EXPECT_FALSE(all.ages[0].age.has_value());
  EXPECT_EQ(all.verdict, Verdict::not_proved);
}

}  // namespace
}  // namespace takt::analysis
