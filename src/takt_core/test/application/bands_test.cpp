// SPDX-License-Identifier: Apache-2.0
#include "takt/application/bands.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/documents.hpp"
#include "takt/sched/error.hpp"

namespace takt::application {
namespace {

using analysis::app;
using analysis::parsed;
using analysis::timer;

std::string in(const std::string& process) {
  return ", 'process': '" + process + "'";
}

Application two(const std::string& lower, const std::string& upper) {
  return parsed(app(timer("a", 10, 1, 70, in("lower")) + ", " + timer("b", 20, 1, 5, in("lower")) +
                        ", " + timer("c", 40, 1, 5, in("lower")) + ", " +
                        timer("d", 10, 1, 1, in("upper")),
                    ", 'processes': [{'name': 'lower', 'cpu': 0, " + lower +
                        "}, {'name': 'upper', " + upper + "}]"));
}

TEST(bands, fixed_priorities_keep_their_order_from_the_priority_of_the_process_on) {
  const auto bands = bands_of(two("'priority': 40", "'cpu': 0, 'priority': 80"));
  ASSERT_EQ(bands.size(), 2U);
  EXPECT_EQ(bands[0].priorities, (std::vector<int>{41, 40, 40, 0}));
  EXPECT_EQ(bands[0].least, 40);
  EXPECT_EQ(bands[0].most, 42);
  EXPECT_EQ(bands[1].priorities, (std::vector<int>{0, 0, 0, 80}));
  EXPECT_EQ(bands[1].most, 81);
}

TEST(bands, a_policy_that_decides_anew_has_a_priority_for_each_job_that_may_be_preempted) {
  const auto bands = bands_of(two("'policy': 'edf', 'priority': 40", "'cpu': 0, 'priority': 80"));
  EXPECT_EQ(bands[0].priorities, (std::vector<int>{0, 0, 0, 0}));
  EXPECT_EQ(bands[0].most, 43);  // three deadlines
}

TEST(bands, without_preemption_two_priorities_are_enough) {
  const auto bands = bands_of(two("'policy': 'np-fp', 'priority': 40", "'cpu': 0, 'priority': 42"));
  EXPECT_EQ(bands[0].most, 41);
}

TEST(bands, of_one_core_must_not_touch) {
  EXPECT_THROW(bands_of(two("'priority': 40", "'cpu': 0, 'priority': 42")), sched::ScheduleError);
  EXPECT_NO_THROW(bands_of(two("'priority': 40", "'cpu': 0, 'priority': 43")));
  EXPECT_NO_THROW(bands_of(two("'priority': 40", "'cpu': 1, 'priority': 41")));
}

TEST(bands, have_no_thread_beside_an_executor_within_them) {
  const auto with_thread = [](const std::string& priority) {
    return two(
        "'priority': 40, 'threads': [{'name': 'usb', 'period': 9, 'execution': "
        "{'worst': 1}, 'priority': " +
            priority + "}]",
        "'cpu': 0, 'priority': 80");
  };
  EXPECT_THROW(bands_of(with_thread("42")), sched::ScheduleError);
  const auto bands = bands_of(with_thread("43"));
  ASSERT_EQ(bands.size(), 2U);
  EXPECT_EQ(bands[0].priorities, (std::vector<int>{41, 40, 40, 0}));
}

TEST(bands, end_at_the_highest_priority) {
  EXPECT_THROW(bands_of(two("'priority': 40", "'cpu': 0, 'priority': 98")), sched::ScheduleError);
  EXPECT_NO_THROW(bands_of(two("'priority': 40", "'cpu': 0, 'priority': 97")));
}

TEST(bands, an_executor_of_rclcpp_has_one_priority) {
  const auto bands =
      bands_of(two("'executor': 'rclcpp_events', 'priority': 40", "'cpu': 0, 'priority': 41"));
  EXPECT_EQ(bands[0].least, 40);
  EXPECT_EQ(bands[0].most, 40);
  for (const int priority : bands[0].priorities) {
    EXPECT_EQ(priority, 0);
  }
}

}  // namespace
}  // namespace takt::application
