// SPDX-License-Identifier: Apache-2.0
//
// Robots whose processes have reservations (SCHED_DEADLINE), nice values and quotas beside
// priorities: bounds against the simulator (docs/reference/analysis.md, eq. 40 and 41).
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <iostream>
#include <set>
#include <string>

#include "analysis/documents.hpp"
#include "analysis/random_robots.hpp"
#include "analysis/random_tasks.hpp"
#include "takt/sched/error.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

constexpr std::array policies = {"np-fp", "np-edf", "rclcpp_single_threaded", "rclcpp_events"};

std::string any_policy(RandomTasks& random) {
  return policies.at(static_cast<std::size_t>(random.number(0, policies.size() - 1)));
}

// Some of its processes get a reservation, and one of each core may be at SCHED_OTHER.
application::Application with_reservations(application::Application robot, std::uint64_t seed) {
  RandomTasks random{seed};
  std::set<std::pair<std::string, int>> with_other;
  for (application::Process& process : robot.processes) {
    if (random.chance(0.5)) {
      const std::int64_t period = random.number(200, 2000);
      // Of three on a core the sum of runtime / deadline is below 1.
      const std::int64_t deadline = random.chance(0.5) ? period : random.number(100, period);
      const nanoseconds runtime{1000 * deadline * random.number(10, 33) / 100};
      process.reservation = {.runtime = runtime,
                             .deadline = nanoseconds{1000 * deadline},
                             .period = nanoseconds{1000 * period}};
    } else if (random.chance(0.5) && with_other.insert({process.host, process.cpu}).second) {
      process.nice = static_cast<int>(random.number(-20, 19));
      if (random.chance(0.5)) {
        process.quota = {.budget = nanoseconds{1000 * random.number(300, 1000)}, .period = 1000us};
      }
    } else {
      continue;
    }
    process.priority = 0;
    process.cpus.clear();  // one thread
    process.policy = any_policy(random);
  }
  return robot;
}

// Those whose callbacks need threads of their own have none here.
bool is_refused(const application::Application& robot) {
  try {
    static_cast<void>(analyse(robot, {.sensitivity = false, .proposals = false}));
    return false;
  } catch (const sched::ScheduleError&) {
    return true;
  }
}

TEST(reservations, nothing_is_above_its_bound) {
  Tally tally;
  int refused = 0;
  const std::uint64_t end = first_seed() + static_cast<std::uint64_t>(rounds(120));
  for (std::uint64_t seed = first_seed(); seed < end && !HasFailure(); ++seed) {
    const application::Application robot = with_reservations(random_robot(seed), seed);
    if (is_refused(robot)) {
      ++refused;
      continue;
    }
    hold_against_simulations(robot, seed, tally);
  }
  std::cout << refused << " refused, " << tally.bounded << " bounds, " << tally.reached
            << " reached, " << tally.chains << " of chains\n";
  EXPECT_LT(refused, rounds(30));
  EXPECT_GT(tally.accepted, rounds(8));
  EXPECT_GT(tally.bounded, rounds(250));
  EXPECT_GT(tally.chains, rounds(20));
}

// Two servers, a process with a priority and one with a nice value on one core, in ticks.
std::string tiny(RandomTasks& random) {
  const auto with = [](const std::string& key, std::int64_t value) {
    return ", '" + key + "': " + std::to_string(value);
  };
  const auto reservation = [&](std::int64_t most) {
    const std::int64_t period = random.number(3, 8);
    const std::int64_t deadline = random.chance(0.5) ? period : random.number(2, period);
    const std::int64_t runtime = std::max<std::int64_t>(1, deadline * most / 100);
    return ", 'reservation': {'runtime': " + std::to_string(runtime) + with("deadline", deadline) +
           with("period", period) + "}, 'policy': 'np-fp'";
  };
  const auto task = [&](const std::string& name, const std::string& process, std::int64_t period,
                        const std::string& more = "") {
    return timer(
        name, static_cast<int>(period), static_cast<int>(random.number(1, 3)),
        static_cast<int>(random.number(1, 3)),
        ", 'process': '" + process + "'" + with("offset", random.number(0, period - 1)) + more);
  };
  const std::string quota = random.chance(0.3) ? ", 'quota': {'budget': 4, 'period': 5}" : "";
  return app(
      task("a", "one", random.number(6, 20)) + ", " + task("b", "one", random.number(15, 40)) +
          ", " + task("c", "two", random.number(8, 25), ", 'writes': ['said']") + ", " +
          task("d", "three", random.number(10, 40)) + ", " +
          message("e", "said", 1, 1, ", 'process': 'three', 'deadline': 40") + ", " +
          task("f", "four", random.number(40, 90)),
      ", 'topics': [{'name': 'said', 'depth': 8}], 'chains': [{'name': 'word', 'callbacks': "
      "['c', 'e']}], 'processes': [{'name': 'one'" +
          reservation(50) + "}, {'name': 'two'" + reservation(random.chance(0.5) ? 50 : 30) +
          "}, {'name': 'three', 'priority': 50}, {'name': 'four', 'nice': 5, 'executor': "
          "'rclcpp_events'" +
          quota + "}], 'handover': {'least': 0, 'most': " + std::to_string(random.number(0, 2)) +
          "}");
}

struct Tried {
  int robots = 0;
  int bounds = 0;
  int reached = 0;
  int servers = 0;  // of these, in processes with reservations
};

void compare_run(const application::Application& robot, const ScenarioReport& bounds,
                 const sim::Result& played, Tried& tried) {
  for (std::size_t i = 0; i < played.callbacks.size(); ++i) {
    const sim::CallbackResult& one = played.callbacks[i];
    if (const auto& bound = callback(bounds, one.name).response) {
      ++tried.bounds;
      EXPECT_LE(one.response.max, *bound) << one.name;
      if (one.response.max == *bound) {
        ++tried.reached;
        tried.servers += robot.processes[robot.callbacks[i].process].reservation ? 1 : 0;
      }
    }
  }
  for (std::size_t i = 0; i < played.chains.size(); ++i) {
    const ChainReport& bound = bounds.chains[i];
    const sim::ChainResult& one = played.chains[i];
    EXPECT_TRUE(!bound.latency || one.latency.max <= *bound.latency) << bound.name;
    EXPECT_TRUE(!bound.reaction || one.reaction.max <= *bound.reaction) << bound.name;
    EXPECT_TRUE(!bound.age || one.age.max <= *bound.age) << bound.name;
  }
}

TEST(reservations, no_run_of_tiny_robots_leads_above_a_bound) {
  Tried tried;
  for (int number = 0; number < rounds(500) && !HasFailure(); ++number) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(number);
    RandomTasks random{seed};
    const std::string text = tiny(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
    application::Application robot;
    try {
      robot = parsed(text);
    } catch (const sched::ScheduleError&) {
      continue;  // the reservations do not fit
    }
    ++tried.robots;
    const Report report = analyse(robot, {.sensitivity = false, .proposals = false});
    const ScenarioReport& bounds = report.scenarios.front();
    for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
      compare_run(robot, bounds,
                  sim::simulate(robot, {.duration = nanoseconds{600},
                                        .seed = seed,
                                        .execution = execution,
                                        .percentiles = false}),
                  tried);
    }
  }
  std::cout << tried.robots << " robots, " << tried.reached << " of " << tried.bounds
            << " bounds reached, " << tried.servers << " under reservations\n";
  EXPECT_GT(tried.robots, rounds(300));
  EXPECT_GT(tried.reached, 0);  // a few of a thousand bounds
}

std::string beside(const std::string& reservation, const std::string& jobs,
                   const std::string& below) {
  return app(jobs + ", " + below,
             ", 'processes': [{'name': 'server', 'policy': 'np-fp', 'reservation': {" +
                 reservation + "}}, {'name': 'below', 'priority': 50}]");
}

std::string job(const std::string& name, std::int64_t period, std::int64_t worst,
                std::int64_t offset, const std::string& process) {
  return timer(name, static_cast<int>(period), static_cast<int>(worst), 1,
               ", 'deadline': " + std::to_string(period) + ", 'offset': " + std::to_string(offset) +
                   ", 'process': '" + process + "'");
}

// It has used 2 of its 4 when it wakes up in the middle of its period, has the other 2, and then 4
// at the begin of the next one: more than its runtime in a window that is shorter than its period.
TEST(reservations, a_server_that_wakes_up_in_its_period_runs_early_in_the_next) {
  for (const auto& [reservation, wakes] :
       {std::pair{"'runtime': 4, 'period': 10", 5},
        std::pair{"'runtime': 4, 'deadline': 8, 'period': 10", 4}}) {
    const std::string text =
        beside(reservation, job("a", 60, 2, 0, "server") + ", " + job("b", 60, 8, wakes, "server"),
               job("c", 60, 5, wakes, "below"));
    SCOPED_TRACE(text);
    const Report report = analyse_json(text);
    const sim::Result run = sim::simulate(parsed(text), {.duration = nanoseconds{60}});
    EXPECT_EQ(run.callbacks[2].response.max, nanoseconds{11});
    EXPECT_EQ(callback(report.scenarios.front(), "c").response, nanoseconds{5 + 2 * 4});
  }
}

// Nothing but the runtime at the begin of one period and right before the deadline of the next one.
TEST(reservations, a_job_waits_for_as_long_as_the_server_may_be_away) {
  const auto bound = [](const std::string& reservation) {
    const Report report = analyse_json(
        beside(reservation, job("a", 60, 5, 0, "server"), job("c", 60, 1, 0, "below")));
    return callback(report.scenarios.front(), "a");
  };
  EXPECT_EQ(bound("'runtime': 4, 'period': 10").response, nanoseconds{2 * 6 + 5 + 6});
  EXPECT_EQ(bound("'runtime': 4, 'deadline': 8, 'period': 10").response,
            nanoseconds{6 + 4 + 5 + 6});
  EXPECT_NE(bound("'runtime': 4, 'period': 10").bound_by.find("eq. 40"), std::string::npos);
}

TEST(reservations, no_server_takes_more_from_what_is_below_than_its_bound) {
  Tried tried;
  for (int number = 0; number < rounds(1500) && !HasFailure(); ++number) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(number);
    RandomTasks random{seed};
    const std::int64_t period = random.number(4, 12);
    const std::int64_t deadline = random.chance(0.5) ? period : random.number(3, period);
    const std::int64_t runtime = random.number(1, deadline - 1);
    const auto any = [&](const std::string& name) {
      return job(name, 120, random.number(1, 8), random.number(0, 119), "server");
    };
    const std::string text = beside(
        "'runtime': " + std::to_string(runtime) + ", 'deadline': " + std::to_string(deadline) +
            ", 'period': " + std::to_string(period),
        any("a") + ", " + any("b") + ", " + any("d") + ", " + any("e"),
        job("c", 40, random.number(1, 9), random.number(0, 39), "below"));
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text);
    const application::Application robot = parsed(text);
    compare_run(robot, analyse(robot, {.sensitivity = false, .proposals = false}).scenarios.front(),
                sim::simulate(robot, {.duration = nanoseconds{240}, .percentiles = false}), tried);
  }
  std::cout << tried.reached << " of " << tried.bounds << " bounds reached, " << tried.servers
            << " under reservations\n";
  EXPECT_GT(tried.reached, rounds(60));
}

TEST(reservations, what_shares_a_core_by_weights_has_no_bound) {
  const std::string text = app(
      job("a", 60, 5, 0, "one") + ", " + job("b", 60, 5, 0, "two") + ", " +
          job("c", 60, 5, 0, "three"),
      ", 'processes': [{'name': 'one', 'policy': 'np-fp', 'nice': 0}, {'name': 'two', 'policy': "
      "'np-fp', 'nice': 5}, {'name': 'three', 'priority': 1}]");
  const Report report = analyse_json(text);
  const ScenarioReport& scenario = report.scenarios.front();
  EXPECT_EQ(scenario.verdict, Verdict::not_proved);
  EXPECT_FALSE(callback(scenario, "a").response);
  EXPECT_NE(callback(scenario, "b").bound_by.find("by weights"), std::string::npos);
  EXPECT_EQ(callback(scenario, "c").response, nanoseconds{5}) << "FIFO is above";
  EXPECT_TRUE(contains(report.remarks, "shares core 0 with 'two' by weights"));
  EXPECT_THROW(sim::simulate(parsed(text), {.duration = nanoseconds{60}}), sched::ScheduleError);
}

TEST(reservations, what_the_kernel_does_not_keep_is_refused) {
  const auto refusal = [](const std::string& process, const std::string& more = "") {
    try {
      static_cast<void>(parsed(app(job("a", 60, 1, 0, "one") + ", " + job("b", 60, 1, 0, "two"),
                                   ", 'processes': [{'name': 'one', " + process +
                                       "}, {'name': 'two', 'policy': 'np-fp', 'reservation': "
                                       "{'runtime': 6, 'period': 10}}]" +
                                       more)));
    } catch (const std::exception& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  const auto expect = [&](const std::string& process, const std::string& words,
                          const std::string& more = "") {
    EXPECT_NE(refusal(process, more).find(words), std::string::npos)
        << process << ": " << refusal(process, more);
  };
  const std::string np = "'policy': 'np-fp', ";
  EXPECT_EQ(refusal(np + "'reservation': {'runtime': 4, 'period': 10}"), "");
  expect(np + "'reservation': {'runtime': 5, 'period': 10}", "take 1.1 of it together");
  expect(np + "'priority': 5, 'reservation': {'runtime': 1, 'period': 10}", "besides a priority");
  expect(np + "'reservation': {'runtime': 3, 'deadline': 2, 'period': 10}",
         "runtime <= deadline <= period");
  expect("'reservation': {'runtime': 1, 'period': 10}", "use np-fp");
  expect("'policy': 'edf', 'nice': 1", "use np-fp");
  expect("'policy': 'cw-edf', 'nice': 1", "on purpose");
  expect(np + "'nice': 20", "from -20");
  expect("'priority': 5, 'quota': {'budget': 1, 'period': 2}", "SCHED_OTHER only");
  expect(np + "'nice': 0, 'quota': {'budget': 3, 'period': 2}", "one thread, on one core");
  expect(np + "'nice': 0", "has a supply",
         ", 'cores': [{'cpu': 0, 'supply': {'budget': 9, 'period': 10}}]");
}

}  // namespace
}  // namespace takt::analysis
