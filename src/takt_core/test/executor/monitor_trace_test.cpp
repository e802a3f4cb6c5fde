// SPDX-License-Identifier: Apache-2.0
//
// What the monitor says of chains and responses is what the trace of the same run says
// (trace::Flows), which knows nothing of the monitor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../policies.hpp"
#include "monitor_support.hpp"
#include "takt/trace/flows.hpp"

namespace takt::test {
namespace {

struct Values {
  std::vector<std::int64_t> latency;
  std::vector<std::int64_t> age;
};

// By the trace.
std::vector<Values> chains_in(const trace::Trace& trace, const trace::Flows::Chains& chains) {
  trace::Flows flows{trace, chains};
  std::ranges::for_each(trace.events, [&](const trace::Event& event) { flows.take(event); });
  std::vector<Values> values(chains.size());
  for (const trace::Arrival& arrival : flows.arrivals) {
    values[arrival.chain].age.push_back(arrival.age);
    if (arrival.first) {
      values[arrival.chain].latency.push_back(arrival.age);
    }
  }
  return values;
}

void expect_same(const LimitStatistics& watched, const std::vector<std::int64_t>& traced) {
  SCOPED_TRACE(watched.subject);
  EXPECT_EQ(watched.checked, traced.size());
  EXPECT_EQ(watched.exceeded,
            static_cast<std::uint64_t>(std::ranges::count_if(
                traced, [&](auto value) { return value > watched.limit.count(); })));
  EXPECT_EQ(watched.worst.count(), traced.empty() ? 0 : std::ranges::max(traced));
}

void expect_what_the_trace_says(const Robot& robot, const trace::Trace& trace) {
  ASSERT_EQ(trace.lost, 0U);
  const auto traced = chains_in(trace, {Robot::whole, Robot::half});
  expect_same(robot.watched("whole", Quantity::latency), traced[0].latency);
  expect_same(robot.watched("whole", Quantity::age), traced[0].age);
  expect_same(robot.watched("half", Quantity::latency), traced[1].latency);
  std::vector<std::int64_t> responses;
  for (const auto& [key, job] : jobs_of(trace)) {
    if (trace.tasks.at(key.first) == "control" && job.end) {
      responses.push_back(*job.end - job.job.release.time_since_epoch().count());
    }
  }
  expect_same(robot.watched("control", Quantity::response), responses);
}

class MonitorAndTrace : public TracedUnderPolicy {
 protected:
  [[nodiscard]] trace::Trace traced() const { return trace::read_trace(file_.path()); }
};

INSTANTIATE_TEST_SUITE_P(Policies, MonitorAndTrace, ::testing::Values("fp", "edf", "np-edf"),
                         policy_name);

TEST_P(MonitorAndTrace, SaysOfChainsAndResponsesWhatTheTraceSays) {
  Robot robot{options()};
  robot.executor.set_limits(Robot::limits());
  robot.run_until_arrived(100);
  expect_what_the_trace_says(robot, traced());
}

TEST_P(MonitorAndTrace, SaysWhatTheTraceSaysUnderOverload) {
  Robot robot{options()};
  robot.executor.set_limits(Robot::limits());
  robot.control_burns = 5ms;
  robot.run_until_arrived(20);
  expect_what_the_trace_says(robot, traced());
  const LimitStatistics control = robot.watched("control", Quantity::response);
  EXPECT_EQ(control.exceeded, control.checked);
  EXPECT_FALSE(control.holds());
}

TEST_P(MonitorAndTrace, SaysWhatTheTraceSaysOfSeveralCores) {
  const auto cpus = os::current_thread().cpus;
  if (cpus.size() < 2) {
    GTEST_SKIP() << "one core";
  }
  Options spread = options();
  spread.cpus = {cpus[0], cpus[1]};
  Robot robot{std::move(spread)};
  robot.executor.set_limits(Robot::limits());
  robot.run_until_arrived(100);
  expect_what_the_trace_says(robot, traced());
}

TEST_P(MonitorAndTrace, SaysWhatTheTraceSaysAcrossScenarios) {
  Robot robot{options()};
  robot.executor.set_limits(Robot::limits());
  robot.executor.set_scheduling_strategy(
      sched::SchedulingStrategy{}
          .add_scenario(sched::SchedulingScenario{"drive"})
          .add_scenario(sched::SchedulingScenario{"dock"}
                            .add_task({.task = "sense", .period = 5ms})
                            .add_task({.task = "control", .period = 1ms})));
  robot.executor.start();
  for (std::uint64_t arrivals = 20; arrivals <= 100; arrivals += 20) {
    robot.wait_for(arrivals);
    EXPECT_TRUE(robot.executor.switch_to(arrivals % 40 == 20 ? "dock" : "drive"));
  }
  robot.executor.stop();
  expect_what_the_trace_says(robot, traced());
}

TEST_P(MonitorAndTrace, SaysWhatTheTraceSaysWhenTheFirstCallbackComesAgain) {
  Robot robot{options()};
  robot.executor.set_limits(Robot::limits());
  robot.executor.start();
  for (std::uint64_t arrivals = 20; arrivals <= 60; arrivals += 20) {
    robot.wait_for(arrivals);
    robot.executor.remove("sense").wait();
    robot.executor.add(Robot::sense(), robot.bound_sense());
  }
  robot.executor.stop();
  expect_what_the_trace_says(robot, traced());
}

}  // namespace
}  // namespace takt::test
