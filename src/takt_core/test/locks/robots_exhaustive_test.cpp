// SPDX-License-Identifier: Apache-2.0
//
// Locks in the processes of a robot: bounds and simulated runs of two processes on one core against
// every run. All that the upper one runs comes before all that the lower one does, and no lock
// belongs to both: so every run is one of a single process with the priorities of both above each
// other. By hand as exhaustive_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <string>

#include "all_runs.hpp"
#include "random_locks.hpp"
#include "takt/analysis/analyse.hpp"
#include "takt/sim/simulation.hpp"

namespace takt::analysis {
namespace {

constexpr std::array names = {"below", "above"};

class RobotsWithLocks : public RandomLocks {
 public:
  using RandomLocks::RandomLocks;

  // Callbacks in both processes.
  application::Application draw(bool waits) {
    for (;;) {
      application::Application robot = make({.least_tasks = 3,
                                             .most_tasks = 4,
                                             .most_locks = 2,
                                             .share = 0.35,
                                             .periods = {8, 10, 12, 15},
                                             .waits = waits});
      split(robot);
      const auto upper =
          std::ranges::count(robot.callbacks, std::size_t{1}, &application::Callback::process);
      if (upper > 0 && upper < std::ssize(robot.callbacks)) {
        return robot;
      }
    }
  }

 private:
  // Those of a lock stay together.
  void split(application::Application& robot) {
    for (const char* const name : names) {
      robot.processes.push_back(
          {.name = name, .policy = "fp", .cpu = 0, .priority = name == names.back() ? 80 : 40});
    }
    std::vector<std::size_t> processes = {pick(), pick()};  // of the locks
    for (const application::Callback& callback : robot.callbacks) {
      if (callback.task.locks.size() > 1) {
        processes[1] = processes[0];
      }
    }
    for (application::Callback& callback : robot.callbacks) {
      const auto& sections = callback.critical_sections;
      callback.process = sections.empty() ? pick() : processes[sections.front().lock];
      if (chance(0.5)) {
        callback.execution.best = nanoseconds{number(1, callback.execution.worst.count())};
        callback.execution.quantiles = {callback.execution.best, callback.execution.worst};
      }
    }
  }

  std::size_t pick() { return static_cast<std::size_t>(number(0, 1)); }
};

AllRuns all_runs_of_robot(application::Application robot) {
  for (application::Callback& callback : robot.callbacks) {
    callback.task.parameters.priority += static_cast<int>(10 * callback.process);
  }
  return all_runs(robot);
}

std::string text_of_robot(const application::Application& robot) {
  std::string result = text(robot);
  for (const application::Callback& callback : robot.callbacks) {
    result += "; " + callback.task.name + " " + names.at(callback.process);
  }
  return result;
}

void keep_robots_to_bounds(bool waits) {
  const int sets = rounds(50);
  int complete = 0;
  int blocked = 0;  // bounds with a term of locks
  int reached = 0;
  int blocked_reached = 0;
  for (int i = 0; i < sets && !testing::Test::HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const application::Application robot = RobotsWithLocks{seed}.draw(waits);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + text_of_robot(robot));
    const ScenarioReport report =
        analyse(robot, {.sensitivity = false, .proposals = false}).scenarios.front();
    const AllRuns runs = all_runs_of_robot(robot);
    complete += runs.complete ? 1 : 0;
    for (const CallbackReport& callback : report.callbacks) {
      const nanoseconds longest{
          runs.responses[static_cast<std::size_t>(callback.name.back() - '0')]};
      if (!callback.response) {
        continue;
      }
      EXPECT_LE(longest, *callback.response) << callback.name << " by " << callback.bound_by;
      reached += longest == *callback.response ? 1 : 0;
      blocked += callback.locks.empty() ? 0 : 1;
      blocked_reached += !callback.locks.empty() && longest == *callback.response ? 1 : 0;
    }
    for (const auto execution : {sim::ExecutionTimes::worst, sim::ExecutionTimes::drawn}) {
      const sim::Result run = sim::simulate(robot, {.duration = nanoseconds{1000},
                                                    .seed = seed,
                                                    .execution = execution,
                                                    .percentiles = false});
      for (const sim::CallbackResult& callback : run.callbacks) {
        const nanoseconds longest{
            runs.responses[static_cast<std::size_t>(callback.name.back() - '0')]};
        // There a job may wait when it has computed all, which changes no bound.
        EXPECT_TRUE(waits || !runs.complete || callback.response.max <= longest) << callback.name;
      }
    }
  }
  EXPECT_GT(complete, sets / 2);
  EXPECT_GE(reached, waits ? sets / 4 : sets);
  EXPECT_GE(blocked_reached, blocked / 50);
  std::cout << complete << " of " << sets << " sets complete, " << reached << " bounds reached, "
            << blocked_reached << " of " << blocked << " with blocking by locks\n";
}

TEST(EveryRunOfRobotsWithLocks, keeps_to_its_bounds) {
  keep_robots_to_bounds(false);
}

TEST(EveryRunOfRobotsWithLocks, keeps_to_its_bounds_where_jobs_wait) {
  keep_robots_to_bounds(true);
}

}  // namespace
}  // namespace takt::analysis
