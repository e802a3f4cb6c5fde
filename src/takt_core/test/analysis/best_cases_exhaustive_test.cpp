// SPDX-License-Identifier: Apache-2.0
//
// Best cases beside others (docs/reference/analysis.md, eq. 44) against all that can happen: the
// jitter of messages that a job publishes which others preempt shows in the responses of whoever is
// beside their readers. By hand as exhaustive_test.cpp.
#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "analysis/core_bounds.hpp"
#include "analysis/random_tasks.hpp"

namespace takt::analysis {
namespace {

// A writer below a timer, or below a reader of one, on core 0; its reader above a timer on core 1.
class PreemptedWriters : public RandomTasks {
 public:
  using RandomTasks::RandomTasks;

  std::vector<CoreTask> draw() {
    return draw_until_schedulable([this] { return draw_once(); });
  }

 private:
  std::vector<CoreTask> draw_once() {
    std::vector<CoreTask> tasks;
    // Periods that divide each other: their times repeat soon.
    const std::int64_t often = number(3, 4);
    if (chance(0.4)) {  // above the writer is a reader of what comes from the other core
      tasks.push_back(task(1, often, 1, chance(0.2) ? 2 : 1));
      tasks.push_back(task(0, often, 1, 2));
      tasks.back().before = 0;
    } else {
      tasks.push_back(task(0, often, 1, 3));
    }
    if (chance(0.3)) {
      tasks.push_back(task(0, 2 * often, 1, 2));
    }
    const std::int64_t rarely = often * number(2, 3);
    const std::size_t writer = tasks.size();
    tasks.push_back(task(0, rarely, often - 1, 2 * often));
    tasks.push_back(task(1, rarely, 1, 4));
    tasks.back().before = writer;
    if (chance(0.2)) {
      tasks.push_back(task(1, rarely, 1, 5));
    }
    // The last ones of each core are the least urgent, mostly.
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].priority = static_cast<int>(tasks.size() - i);
    }
    if (chance(0.2)) {
      std::swap(tasks[writer].priority, tasks[writer - 1].priority);
    }
    return tasks;
  }

  CoreTask task(std::size_t core, std::int64_t period, std::int64_t least, std::int64_t most) {
    CoreTask result{.core = core, .period = period, .worst = number(least, most)};
    result.best = chance(0.9) ? result.worst : number(0, result.worst);
    result.deadline = period;
    result.anywhere = chance(0.05);
    result.regular = chance(0.9);
    if (result.regular) {
      result.latest_first = chance(0.7) ? period : number(0, period + period / 2);
    }
    return result;
  }
};

struct BestCaseTally {
  int complete = 0;
  int bounds = 0;
  int reached = 0;
  int offsets = 0;  // above the shortest times of computing
  int offsets_reached = 0;
};

// From the release of the timer that leads to the task to its own.
void hold_offset(const std::vector<CoreTask>& tasks, std::size_t task, std::int64_t least,
                 const CoresReached& reached, BestCaseTally& tally) {
  EXPECT_LE(least, reached.offsets[task]);
  std::int64_t computing = 0;
  for (std::size_t i = tasks[task].before; i != CoreTask::timer; i = tasks[i].before) {
    computing += tasks[i].anywhere ? 0 : tasks[i].best;
  }
  if (reached.complete && least > computing) {
    ++tally.offsets;
    tally.offsets_reached += least == reached.offsets[task] ? 1 : 0;
  }
}

void compare(const std::vector<CoreTask>& tasks, BestCaseTally& tally) {
  const auto count = [&](std::size_t task, const BoundedTask& one, const CoresReached& reached) {
    if (tasks[task].before != CoreTask::timer) {
      hold_offset(tasks, task, one.offset, reached, tally);
    }
    if (reached.complete && one.response.bound) {
      ++tally.bounds;
      tally.reached += reached.responses[task] == one.response.bound->count() ? 1 : 0;
    }
  };
  tally.complete += hold_on_cores(tasks, "fp", 20'000, count) ? 1 : 0;
}

TEST(best_cases, of_preempted_writers_are_not_above_any_run) {
  BestCaseTally tally;
  const int sets = rounds(40);
  for (int i = 0; i < sets && !testing::Test::HasFailure(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const std::vector<CoreTask> tasks = PreemptedWriters{seed}.draw();
    SCOPED_TRACE("seed " + std::to_string(seed) + describe(tasks));
    compare(tasks, tally);
  }
  EXPECT_GT(tally.complete, sets / 4);
  EXPECT_GT(tally.reached, tally.bounds / 2);
  EXPECT_GT(tally.offsets_reached, 0);
  std::cout << tally.offsets_reached << " of " << tally.offsets << " best cases reached; "
            << tally.complete << " of " << sets << " sets complete; " << tally.reached << " of "
            << tally.bounds << " responses reached\n";
}

}  // namespace
}  // namespace takt::analysis
