// SPDX-License-Identifier: Apache-2.0
//
// Processes of a robot whose executor has a thread on each of several cores.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/documents.hpp"
#include "takt/application/bands.hpp"
#include "takt/application/compile.hpp"
#include "takt/application/threads.hpp"
#include "takt/sched/error.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::application {
namespace {

using analysis::app;
using analysis::message;
using analysis::parsed;
using analysis::timer;
using std::chrono::nanoseconds;

std::string within(const std::string& process, const std::string& more = "") {
  return ", 'process': '" + process + "'" + more;
}

// `plan` takes most of its core, so `see` has the other one, and releases `act` from there.
Application spread_robot(const std::string& arm = "'cpus': [2, 3], 'priority': 40",
                         const std::string& more = "") {
  return parsed(
      app(timer("plan", 10, 7, 1, within("arm", ", 'cpu': 2")) + ", " +
              timer("see", 10, 3, 5, within("arm", ", 'writes': ['image']")) + ", " +
              message("act", "image", 1, 9, within("arm", ", 'deadline': 9, 'cpu': 2" + more)) +
              ", " + timer("log", 20, 5, 1, within("log")),
          ", 'topics': [{'name': 'image'}], 'handover': {'least': 1, 'most': 4}, 'chains': "
          "[{'name': 'grip', 'callbacks': ['see', 'act']}], 'processes': [{'name': 'arm', " +
              arm + "}, {'name': 'log', 'cpu': 3, 'priority': 10}]"));
}

const Process& home_of(const Application& all, std::size_t callback) {
  return all.processes.at(all.callbacks.at(callback).process);
}

TEST(process_cores, each_of_them_is_a_process_for_analysis_and_simulation) {
  const Application all = with_threads(spread_robot());
  ASSERT_EQ(all.processes.size(), 3U);
  EXPECT_EQ(home_of(all, 0).cpu, 2);
  EXPECT_EQ(home_of(all, 1).cpu, 3);  // which has more time left
  EXPECT_EQ(home_of(all, 1).name, "arm.core3");
  EXPECT_EQ(home_of(all, 1).serves, "arm");
  EXPECT_EQ(home_of(all, 2).cpu, 2);
  EXPECT_EQ(all.processes[0].name, "arm");
  EXPECT_TRUE(all.processes[0].cpus.empty());
  EXPECT_EQ(with_threads(all).processes.size(), 3U);
}

TEST(process_cores, without_callbacks_are_left_out) {
  const Application all = with_threads(spread_robot("'cpus': [1, 2, 3, 4], 'priority': 40"));
  EXPECT_EQ(all.processes.size(), 3U);
  EXPECT_EQ(all.processes[0].cpu, 1);
  EXPECT_EQ(all.processes[2].cpu, 2);
}

// No message between them takes time, and nothing of the other core delays a job.
TEST(process_cores, hand_over_at_once_and_do_not_delay_each_other) {
  const analysis::Report report = analysis::analyse(spread_robot());
  const analysis::ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(analysis::callback(scenario, "plan").response, nanoseconds{8});
  EXPECT_EQ(analysis::callback(scenario, "see").response, nanoseconds{3});
  EXPECT_EQ(analysis::callback(scenario, "act").response, nanoseconds{1});
  EXPECT_EQ(analysis::callback(scenario, "log").response, nanoseconds{8});  // below one of them
  EXPECT_EQ(scenario.chains.front().latency, nanoseconds{4});
  EXPECT_EQ(scenario.chains.front().bound_by, "arm.core3 3 ns + arm.core2 1 ns");
  const sim::Result played = sim::simulate(spread_robot(), {.duration = nanoseconds{200}});
  EXPECT_EQ(played.callbacks[0].response.max, nanoseconds{8});
  EXPECT_EQ(played.callbacks[2].response.max, nanoseconds{1});
  EXPECT_EQ(played.callbacks[3].response.max, nanoseconds{8});
  EXPECT_EQ(played.chains.front().latency.max, nanoseconds{4});
}

TEST(process_cores, keep_together_what_a_maximum_age_ties) {
  const auto two = [](const std::string& cpus) {
    return with_threads(parsed(
        app(timer("a", 10, 6, 1, within("arm", ", 'writes': ['x']" + cpus)) + ", " +
                timer("b", 10, 6, 1, within("arm", ", 'reads': [{'topic': 'x', 'max_age': 20}]")),
            ", 'topics': [{'name': 'x'}], 'processes': [{'name': 'arm', 'cpus': [0, 1], "
            "'priority': 40}]")));
  };
  const Application all = two("");
  EXPECT_EQ(all.callbacks[0].process, all.callbacks[1].process);
  EXPECT_EQ(home_of(two(", 'cpu': 1"), 1).cpu, 1);
}

TEST(process_cores, that_would_release_no_timer_early_are_refused) {
  const std::string young = ", 'reads': [{'topic': 'x', 'max_age': 20}], 'cpu': 1";
  const auto apart = [&] {
    return parsed(app(timer("a", 10, 6, 1, within("arm", ", 'writes': ['x'], 'cpu': 0")) + ", " +
                          timer("b", 10, 6, 1, within("arm", young)),
                      ", 'topics': [{'name': 'x'}], 'processes': [{'name': 'arm', 'cpus': [0, 1], "
                      "'priority': 40}]"));
  };
  EXPECT_THROW(apart(), sched::ScheduleError);
}

TEST(process_cores, belong_to_takt_and_have_a_priority) {
  EXPECT_THROW(spread_robot("'cpus': [2, 3], 'priority': 40, 'executor': 'rclcpp_events'"),
               sched::ScheduleError);
  EXPECT_THROW(spread_robot("'cpus': [2, 3], 'policy': 'np-fp', 'nice': 3"), sched::ScheduleError);
  EXPECT_THROW(spread_robot("'cpus': [2, 3], 'policy': 'cw-edf', 'priority': 40"),
               sched::ScheduleError);
  EXPECT_THROW(spread_robot("'cpus': [3, 4], 'priority': 40"),
               sched::ScheduleError);  // act asks for 2
  EXPECT_THROW(spread_robot("'cpus': [2, 3], 'cpu': 2, 'priority': 40"), ParseError);
  EXPECT_THROW(spread_robot("'cpus': [2, 3], 'priority': 10"), sched::ScheduleError);  // as log
}

std::string refusal_of(const std::string& executor) {
  try {
    static_cast<void>(compile(spread_robot(executor)));
  } catch (const sched::ScheduleError& error) {
    return error.what();
  }
  return "";
}

// Two threads, or two reservations, on a core named twice would count as those of two cores.
TEST(process_cores, are_each_named_once) {
  for (const std::string executor : {
           "'priority': 40",
           "'priority': 40, 'executor': 'rclcpp_multi_threaded'",
           "'nice': 3, 'executor': 'rclcpp_events'",
           "'reservation': {'runtime': 5, 'deadline': 10, 'period': 10}, 'policy': 'np-fp'",
       }) {
    EXPECT_EQ(refusal_of("'cpus': [2, 2], " + executor),
              "process 'arm': core 2 is named twice. Fix: name each core once, from 0.")
        << executor;
  }
}

TEST(process_cores, of_threads_without_processes_are_each_named_once) {
  const Application application =
      parsed(app(timer("a", 10, 6, 1), ", 'cpus': [1, 1], 'executor': 'rclcpp_multi_threaded'"));
  EXPECT_THROW(compile(application), sched::ScheduleError);
}

TEST(process_cores, have_a_band_of_priorities_each) {
  const std::vector<Band> bands = bands_of(spread_robot());
  ASSERT_EQ(bands.size(), 2U);
  EXPECT_EQ(bands[0].priorities, (std::vector<int>{40, 40, 41, 0}));
  EXPECT_EQ(bands[0].most, 42);
}

}  // namespace
}  // namespace takt::application
