// SPDX-License-Identifier: Apache-2.0
//
// Bounds of jobs whose segments have known lengths, against runs tick by tick.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "analysis/documents.hpp"
#include "analysis/waiting_search.hpp"
#include "segments/documents.hpp"

namespace takt::analysis {
namespace {

std::vector<Response> responses_of(const std::vector<WaitingTask>& tasks) {
  Effort effort;
  return fixed_priority_responses(demands_of(tasks), effort);
}

int by_segments(const std::vector<WaitingTask>& tasks) {
  return static_cast<int>(std::ranges::count(responses_of(tasks), By::segments, &Response::by));
}

WaitingTask of_segments(std::vector<TickSegment> segments, std::int64_t period, int priority) {
  WaitingTask task{.execution = 0, .period = period, .priority = priority};
  for (std::size_t i = 0; i < segments.size(); ++i) {
    (i % 2 == 0 ? task.execution : task.suspension) += segments[i].longest;
  }
  task.suspensions = std::ssize(segments) / 2;
  task.segments = std::move(segments);
  return task;
}

// Some callbacks that wait have segments, of one or two waits.
std::vector<WaitingTask> random_segment_set(RandomTasks& random, std::int64_t most_tasks,
                                            std::int64_t most_period, const Form& form) {
  for (;;) {
    auto tasks = random_set(random, most_tasks, most_period, form);
    for (WaitingTask& task : tasks) {
      if (task.suspension == 0 || random.chance(0.2)) {
        continue;
      }
      std::vector<TickSegment> segments;
      std::int64_t computes = task.execution;
      std::int64_t waits = task.suspension;
      for (std::int64_t left = random.number(1, 2); left > 0 && computes > left && waits > 0;
           --left) {
        const std::int64_t part = random.number(1, computes - left);
        const std::int64_t wait = random.number(1, waits);
        segments.push_back({.shortest = random.number(1, part), .longest = part});
        segments.push_back(
            {.shortest = random.chance(0.5) ? wait : random.number(0, wait), .longest = wait});
        computes -= part;
        waits -= wait;
      }
      if (!segments.empty()) {
        segments.push_back({.shortest = random.number(1, computes), .longest = computes});
        WaitingTask changed = of_segments(std::move(segments), task.period, task.priority);
        changed.lag = task.lag;
        task = changed;
      }
    }
    if (by_segments(tasks) > 0) {
      return tasks;
    }
  }
}

// Below one that computes for 2, waits for 6, and computes for 2 again: within 16 that is 4. As if
// released up to R - C = 6 early, it is 8 within 20.
TEST(segments, what_comes_after_a_wait_comes_no_earlier) {
  std::vector<WaitingTask> tasks = {of_segments({{2, 2}, {6, 6}, {2, 2}}, 20, 2),
                                    {.execution = 12, .period = 40, .priority = 1}};
  EXPECT_EQ(responses_of(tasks)[1].bound, nanoseconds{16});
  EXPECT_EQ(responses_of(tasks)[1].by, By::segments);
  tasks[0].segments.clear();
  EXPECT_EQ(responses_of(tasks)[1].bound, nanoseconds{20});
}

// It may not wait, and then is 4 within any interval.
TEST(segments, a_wait_that_may_be_short_keeps_nothing_apart) {
  const std::vector<WaitingTask> tasks = {of_segments({{2, 2}, {0, 6}, {2, 2}}, 20, 2),
                                          {.execution = 12, .period = 40, .priority = 1}};
  EXPECT_EQ(responses_of(tasks)[1].bound, nanoseconds{20});
}

// Each of its two segments of 3 meets one job of the first one; 6 in one of them would meet two.
TEST(segments, each_meets_others_for_its_own_length) {
  std::vector<WaitingTask> tasks = {{.execution = 5, .period = 10, .priority = 2},
                                    of_segments({{3, 3}, {60, 60}, {3, 3}}, 200, 1)};
  EXPECT_EQ(responses_of(tasks)[1].bound, nanoseconds{60 + 6 + 2 * 5});
  tasks[1].segments.clear();
  EXPECT_EQ(responses_of(tasks)[1].bound, nanoseconds{60 + 6 + 3 * 5});
}

// Overheads may be in either segment.
TEST(segments, of_overheads_each_may_have_all) {
  std::vector<Demand> demands = demands_of({{.execution = 5, .period = 10, .priority = 2},
                                            of_segments({{3, 3}, {60, 60}, {3, 3}}, 200, 1)});
  Effort effort;
  demands[1].execution += nanoseconds{2};
  EXPECT_EQ(fixed_priority_responses(demands, effort)[1].bound, nanoseconds{60 + 8 + 2 * 5});
  demands[1].execution += nanoseconds{1};  // 6 + 5 in one is more than a period
  EXPECT_EQ(fixed_priority_responses(demands, effort)[1].bound, nanoseconds{60 + 9 + 4 * 5});
}

TEST(segments, no_response_of_random_runs_is_above_its_bound) {
  RandomTasks random{61 - 1 + first_seed()};
  Tally tally;
  int better = 0;
  for (int set = 0; set < rounds(100) && !HasFailure(); ++set) {
    const Form form{
        .equal_priorities = set % 3 == 0, .groups = set % 5 == 0, .lags = set % 2 == 0, .waits = 2};
    const auto tasks = random_segment_set(random, 4, 24, form);
    better += by_segments(tasks);
    compare_random_runs(random, tasks, 60, 150, tally);
  }
  std::cout << better << " of " << tally.bounded << " bounds by segments, " << tally.reached
            << " reached\n";
  EXPECT_GT(better, rounds(100));
  EXPECT_GT(tally.reached, rounds(100));
}

TEST(segments, no_run_of_two_tasks_is_above_the_bounds) {
  RandomTasks random{62 - 1 + first_seed()};
  const Tally tally = compare_every_run(rounds(12), 2, [&](int set) {
    return random_segment_set(random, 2, 8, {.equal_priorities = set % 3 == 0, .waits = 2});
  });
  EXPECT_GT(tally.bounded, rounds(20));
}

// What is known of segments never makes a bound longer.
TEST(segments, are_never_above_the_bound_without_them) {
  RandomTasks random{63 - 1 + first_seed()};
  expect_never_above_the_bound_without(
      rounds(500), [&] { return random_segment_set(random, 5, 60, {.waits = 2}); },
      [](WaitingTask& task) { task.segments.clear(); });
}

// It always takes 12: its messages come as regularly as its releases. With the wait as jitter there
// were two of them beside the job below, which would end at 34.
TEST(segments, a_wait_of_known_length_is_no_jitter_of_messages) {
  const auto below = [](std::int64_t shortest) {
    std::string text = document(
        segmented("asks", 40, 1, {{1, 1}, {shortest, 10}, {1, 1}},
                  R"(,"cpu":0,"writes":["answer"])") +
            R"(,{"name":"reads","kind":"message","trigger":"answer","cpu":1,"priority":2,)" +
            R"("overrun":"catch_up","execution":{"worst":2}},)" +
            R"({"name":"below","period":80,"cpu":1,"priority":1,"execution":{"worst":30}})",
        R"(,"topics":[{"name":"answer","depth":4}])");
    text.replace(text.find("[0]"), 3, "[0,1]");
    return callback(analyse_json(text).scenarios.front(), "below").response;
  };
  EXPECT_EQ(below(10), nanoseconds{30 + 2});
  EXPECT_EQ(below(0), nanoseconds{30 + 2 * 2});
}

}  // namespace
}  // namespace takt::analysis
