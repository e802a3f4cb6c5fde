// SPDX-License-Identifier: Apache-2.0
//
// Runs of sets with jobs that wait, at random and all of them, and what they reach of the bounds.
#pragma once

#include <gtest/gtest.h>

#include <iostream>

#include "analysis/waiting_sets.hpp"

namespace takt::analysis {

// One after the other, `length(segment)` ticks of each.
template <class Length>
std::vector<bool> plan_of_segments(const WaitingTask& task, Length length) {
  std::vector<bool> result;
  for (std::size_t i = 0; i < task.segments.size(); ++i) {
    result.insert(result.end(), static_cast<std::size_t>(length(task.segments[i])), i % 2 == 0);
  }
  return result;
}

// Releases at least a period apart, each job with its own times and its own order of them.
inline std::vector<WaitingJob> random_jobs(RandomTasks& random,
                                           const std::vector<WaitingTask>& tasks,
                                           std::int64_t end) {
  std::vector<WaitingJob> jobs;
  const bool periodic = random.chance(0.7);
  const double worst = random.chance(0.5) ? 1 : 0.7;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const WaitingTask& task = tasks[i];
    std::int64_t last = 0;
    for (std::int64_t release = random.number(0, task.period); release < end;) {
      if (!task.segments.empty()) {
        const auto length = [&](const TickSegment& segment) {
          return random.chance(worst) ? segment.longest
                                      : random.number(segment.shortest, segment.longest);
        };
        last = std::max(last, release + random.number(0, task.lag));
        jobs.push_back({.task = i,
                        .release = release,
                        .noticed = last,
                        .computes = plan_of_segments(task, length)});
        release += task.period + (periodic || random.chance(0.6) ? 0 : random.number(0, 5));
        continue;
      }
      const std::int64_t computes =
          random.chance(worst) ? task.execution : random.number(1, task.execution);
      const std::int64_t waits =
          random.chance(worst) ? task.suspension : random.number(0, task.suspension);
      WaitingJob job{.task = i,
                     .release = release,
                     .noticed = std::max(last, release + random.number(0, task.lag)),
                     .computes = plan(0, waits, computes)};
      switch (random.number(0, 3)) {
        case 0:
          break;
        case 1:
          std::reverse(job.computes.begin(), job.computes.end());
          break;
        default:
          for (std::size_t k = job.computes.size(); k > 1; --k) {
            const auto other =
                static_cast<std::size_t>(random.number(0, static_cast<std::int64_t>(k) - 1));
            std::vector<bool>::swap(job.computes[k - 1], job.computes[other]);
          }
      }
      if (!is_plan_of(task, job.computes)) {
        const std::int64_t before = random.number(0, computes);
        job.computes = plan(before, waits, computes - before);
        // Where it may wait twice, one tick of computing is between.
        if (task.suspensions > 1 && waits > 1 && before < computes) {
          const std::int64_t second = random.number(1, waits - 1);
          job.computes = plan(before, waits - second, 1);
          const auto rest = plan(0, second, computes - before - 1);
          job.computes.insert(job.computes.end(), rest.begin(), rest.end());
        }
      }
      last = job.noticed;
      jobs.push_back(std::move(job));
      release += task.period + (periodic || random.chance(0.6) ? 0 : random.number(0, 5));
    }
  }
  return jobs;
}

struct Tally {
  int bounded = 0;
  int unbounded = 0;
  int reached = 0;
};

inline void expect_within(const Bounds& bounds, const std::vector<std::int64_t>& observed) {
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i] >= 0) {
      ASSERT_LE(observed[i], bounds[i]) << "task " << i;
    }
  }
}

inline void count(const Bounds& bounds, const std::vector<std::int64_t>& longest, Tally& tally) {
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    ++(bounds[i] >= 0 ? tally.bounded : tally.unbounded);
    tally.reached += bounds[i] == longest[i] ? 1 : 0;
  }
}

inline void take_longer(std::vector<std::int64_t>& longest,
                        const std::vector<std::int64_t>& observed) {
  for (std::size_t i = 0; i < observed.size(); ++i) {
    longest[i] = std::max(longest[i], observed[i]);
  }
}

// Runs of a set at random against its bounds, whatever the offsets, the times of each job, and
// where in it the waiting lies; `end` in ticks.
inline void compare_random_runs(RandomTasks& random, const std::vector<WaitingTask>& tasks,
                                int runs, std::int64_t end, Tally& tally) {
  SCOPED_TRACE(describe(tasks));
  const Bounds bounds = bounds_of(demands_of(tasks));
  std::vector<std::int64_t> longest(tasks.size(), 0);
  for (int run = 0; run < runs; ++run) {
    const auto observed =
        observe_waiting(tasks, random_jobs(random, tasks, end), [&] { return random.chance(0.5); });
    expect_within(bounds, observed);
    take_longer(longest, observed);
  }
  count(bounds, longest, tally);
}

// All ways to lay C ticks of computing and S of waiting; with segments, all of their lengths.
inline std::vector<std::vector<bool>> all_plans(const WaitingTask& task) {
  std::vector<std::vector<bool>> plans;
  if (!task.segments.empty()) {
    plans.emplace_back();
    for (std::size_t i = 0; i < task.segments.size(); ++i) {
      std::vector<std::vector<bool>> longer;
      for (const std::vector<bool>& before : plans) {
        for (std::int64_t length = task.segments[i].shortest; length <= task.segments[i].longest;
             ++length) {
          longer.push_back(before);
          longer.back().insert(longer.back().end(), static_cast<std::size_t>(length), i % 2 == 0);
        }
      }
      plans = std::move(longer);
    }
    return plans;
  }
  std::vector<bool> next = plan(0, task.suspension, task.execution);
  do {
    if (is_plan_of(task, next)) {
      plans.push_back(next);
    }
  } while (std::next_permutation(next.begin(), next.end()));
  return plans;
}

// Every offset and every plan; the first job of a task may have another plan than the others, and
// all others may come later than after a period, by up to `latest`.
class AllRuns {
 public:
  explicit AllRuns(const std::vector<WaitingTask>& tasks, std::int64_t latest = 0)
      : tasks_(tasks), latest_(latest), choice_(tasks.size()), longest_(tasks.size(), 0) {
    for (const WaitingTask& task : tasks) {
      plans_.push_back(all_plans(task));
      end_ = std::max(end_, 4 * task.period);
    }
  }

  std::vector<std::int64_t> run() {
    choose(0);
    return longest_;
  }

 private:
  struct Choice {
    std::int64_t offset = 0;
    std::size_t first = 0;
    std::size_t later = 0;
    std::int64_t delay = 0;
  };

  void choose(std::size_t task) {
    if (task == tasks_.size()) {
      for (const bool own_first : {false, true}) {
        take_longer(longest_, observe_waiting(tasks_, jobs(), [=] { return own_first; }));
      }
      return;
    }
    Choice& choice = choice_[task];
    for (choice.offset = 0; choice.offset < tasks_[task].period; ++choice.offset) {
      for (choice.first = 0; choice.first < plans_[task].size(); ++choice.first) {
        for (choice.later = 0; choice.later < plans_[task].size(); ++choice.later) {
          for (choice.delay = 0; choice.delay <= latest_; ++choice.delay) {
            choose(task + 1);
          }
        }
      }
    }
  }

  [[nodiscard]] std::vector<WaitingJob> jobs() const {
    std::vector<WaitingJob> result;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      bool first = true;
      for (std::int64_t time = choice_[i].offset; time < end_; time += tasks_[i].period) {
        const std::size_t plan = first ? choice_[i].first : choice_[i].later;
        result.push_back(
            {.task = i, .release = time, .noticed = time, .computes = plans_[i][plan]});
        time += first ? choice_[i].delay : 0;
        first = false;
      }
    }
    return result;
  }

  const std::vector<WaitingTask>& tasks_;
  std::int64_t latest_;
  std::vector<std::vector<std::vector<bool>>> plans_;
  std::vector<Choice> choice_;
  std::vector<std::int64_t> longest_;
  std::int64_t end_ = 0;
};

// The bounds of so many sets, drawn by number, against every run of each (`latest` as AllRuns has).
template <class Draw>
Tally compare_every_run(int sets, std::int64_t latest, const Draw& draw) {
  Tally tally;
  for (int set = 0; set < sets && !testing::Test::HasFailure(); ++set) {
    const std::vector<WaitingTask> tasks = draw(set);
    SCOPED_TRACE(describe(tasks));
    const Bounds bounds = bounds_of(demands_of(tasks));
    const auto longest = AllRuns{tasks, latest}.run();
    expect_within(bounds, longest);
    count(bounds, longest, tally);
  }
  std::cout << sets << " of " << sets << " sets complete; " << tally.reached << " of "
            << tally.bounded << " bounds reached\n";
  EXPECT_GT(tally.reached, tally.bounded / 2);
  return tally;
}

// No bound of so many sets is longer with what `forget` takes from a task than without it.
template <class Draw, class Forget>
void expect_never_above_the_bound_without(int sets, const Draw& draw, const Forget& forget) {
  for (int set = 0; set < sets; ++set) {
    std::vector<WaitingTask> tasks = draw();
    SCOPED_TRACE(describe(tasks));
    const Bounds with = bounds_of(demands_of(tasks));
    std::ranges::for_each(tasks, forget);
    const Bounds without = bounds_of(demands_of(tasks));
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      ASSERT_TRUE(without[i] < 0 || (with[i] >= 0 && with[i] <= without[i])) << "task " << i;
    }
  }
}

}  // namespace takt::analysis
