// SPDX-License-Identifier: Apache-2.0
// Releases that come while the callback still runs are dropped; the report says so.
#include <gtest/gtest.h>

#include "analysis/documents.hpp"

namespace takt::analysis {
namespace {

constexpr const char* remark = "'r' may still run when it is released again";

bool drops(const std::string& callbacks) {
  return contains(analyse_json(app(callbacks)).scenarios.front().remarks, remark);
}

std::string writer(const std::string& name, int priority) {
  return timer(name, 100, 10, priority, ", 'writes': ['x']");
}

std::string reader(const std::string& overrun) {
  return "{'name': 'r', 'kind': 'message', 'trigger': 'x', 'priority': 40, 'execution': "
         "{'worst': 10}, 'overrun': '" +
         overrun + "'}";
}

TEST(drops, one_writer_that_comes_again_after_the_response_drops_nothing) {
  EXPECT_FALSE(drops(writer("a", 60) + "," + reader("skip")));
}

TEST(drops, several_writers_may_publish_at_once) {
  const std::string two = writer("a", 60) + "," + writer("b", 61) + ",";
  EXPECT_TRUE(drops(two + reader("skip")));
  EXPECT_TRUE(contains(analyse_json(app(two + reader("skip"))).scenarios[0].remarks,
                       "up to 2 releases within one response, of which only the first runs"));
  EXPECT_FALSE(drops(two + reader("catch_up")));
}

TEST(drops, one_release_may_wait_where_one_is_queued) {
  const std::string two = writer("a", 60) + "," + writer("b", 61) + ",";
  const std::string queued = reader("queue_one");
  EXPECT_FALSE(drops(two + queued));
  EXPECT_TRUE(drops(two + writer("c", 62) + "," + queued));
}

// Which message a job takes does not change with the scenario: here the newest, whoever wrote it.
TEST(drops, a_scenario_that_catches_up_does_not_make_a_reader_of_the_newest_take_each_message) {
  const auto latency = [](const std::string& declared) {
    const Report report = analyse_json(
        app(writer("a", 60) + "," + writer("b", 61) + "," + reader(declared),
            ", 'topics': [{'name': 'x', 'depth': 2}], 'chains': [{'name': 'c', 'callbacks': ['a', "
            "'r']}], 'scenarios': [{'name': 's', 'tasks': [{'task': 'r', 'overrun': "
            "'catch_up'}]}]"));
    return report.scenarios.front().chains.front().latency;
  };
  EXPECT_TRUE(latency("catch_up"));
  EXPECT_FALSE(latency("skip"));
}

TEST(drops, a_timer_is_dropped_where_its_response_exceeds_its_period) {
  const auto timers = [](int execution) {
    return timer("a", 40, 20, 60) + "," + timer("r", 50, execution, 40, ", 'deadline': 100");
  };
  EXPECT_FALSE(drops(timers(10)));  // 30 of 50
  EXPECT_TRUE(drops(timers(25)));   // 65 of 50
}

}  // namespace
}  // namespace takt::analysis
