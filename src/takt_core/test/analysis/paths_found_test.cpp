// SPDX-License-Identifier: Apache-2.0
//
// Paths over several cores: sets that a search found, each of which has a run above its bound if
// one condition of eq. 17 or 46 (docs/reference/analysis.md) is left out.
#include <gtest/gtest.h>

#include <string>

#include "analysis/core_bounds.hpp"

namespace takt::analysis {
namespace {

// The longest latency of a task; all that can happen is looked at, and held against the bounds.
std::int64_t longest(const std::string& policy, const std::vector<CoreTask>& tasks,
                     std::size_t task) {
  std::int64_t result = 0;
  const auto count = [&](std::size_t i, const BoundedTask& /*bounds*/,
                         const CoresReached& reached) {
    result = i == task ? reached.latencies[i] : result;
  };
  EXPECT_TRUE(hold_on_cores(tasks, policy, 100'000, count));
  return result;
}

// c0 and c1 publish early: both delay the path, c1 although c0 still runs.
TEST(paths, meet_a_job_and_what_its_early_message_leads_to) {
  EXPECT_EQ(
      longest(
          "fp",
          {{.core = 1,
            .period = 3,
            .deadline = 3,
            .priority = 5,
            .anywhere = true,
            .regular = true,
            .latest_first = 3},
           {.core = 0, .before = 0, .period = 3, .deadline = 3, .priority = 4, .anywhere = true},
           {.core = 0,
            .period = 6,
            .best = 2,
            .worst = 2,
            .deadline = 6,
            .priority = 3,
            .regular = true,
            .latest_first = 6},
           {.core = 1, .before = 2, .period = 6, .deadline = 6, .priority = 2},
           {.core = 1,
            .period = 6,
            .deadline = 6,
            .priority = 1,
            .regular = true,
            .latest_first = 6}},
          3),
      5);
}

// The same where c0 delays the path on core 1, after c1 has done so on core 0.
TEST(paths, meet_a_job_after_what_its_early_message_leads_to) {
  EXPECT_EQ(longest("fp",
                    {{.core = 1,
                      .period = 3,
                      .deadline = 3,
                      .priority = 4,
                      .anywhere = true,
                      .regular = true,
                      .latest_first = 3},
                     {.core = 0,
                      .before = 0,
                      .period = 3,
                      .best = 2,
                      .worst = 2,
                      .deadline = 3,
                      .priority = 3},
                     {.core = 0,
                      .period = 9,
                      .best = 2,
                      .worst = 2,
                      .deadline = 9,
                      .priority = 2,
                      .regular = true,
                      .latest_first = 9},
                     {.core = 1,
                      .before = 2,
                      .period = 9,
                      .best = 2,
                      .worst = 2,
                      .deadline = 9,
                      .priority = 1}},
                    3),
            11);
}

// c2 preempts c0, whose message has led to it, although c0 has not computed all.
TEST(paths, whose_jobs_publish_early_come_back_to_them) {
  EXPECT_EQ(longest("fp",
                    {{.core = 0,
                      .period = 8,
                      .best = 3,
                      .worst = 3,
                      .deadline = 8,
                      .priority = 1,
                      .anywhere = true},
                     {.core = 1,
                      .before = 0,
                      .period = 8,
                      .best = 2,
                      .worst = 2,
                      .deadline = 8,
                      .priority = 2},
                     {.core = 0,
                      .before = 1,
                      .period = 8,
                      .best = 0,
                      .deadline = 8,
                      .priority = 3,
                      .anywhere = true},
                     {.core = 1, .period = 6, .deadline = 6, .priority = 4},
                     {.core = 1, .period = 4, .deadline = 1, .priority = 5}},
                    0),
            4);
}

// What the path's message leads to besides, c2, is above its last job.
TEST(paths, meet_others_that_their_own_messages_release) {
  EXPECT_EQ(longest("fp",
                    {{.core = 0, .period = 8, .deadline = 2, .priority = 2},
                     {.core = 1,
                      .before = 0,
                      .period = 8,
                      .best = 2,
                      .worst = 2,
                      .deadline = 7,
                      .priority = 1},
                     {.core = 0,
                      .before = 1,
                      .period = 8,
                      .best = 2,
                      .worst = 2,
                      .deadline = 8,
                      .priority = 4},
                     {.core = 0, .before = 1, .period = 8, .deadline = 8, .priority = 3}},
                    3),
            6);
}

// c3 publishes early, so c4 computes on core 0 while c3 does on core 1.
TEST(TwoChains, of_which_one_publishes_early_do_not_advance_together) {
  EXPECT_EQ(
      longest(
          "fp",
          {{.core = 1, .period = 21, .best = 2, .worst = 2, .deadline = 17, .priority = 1},
           {.core = 0,
            .before = 0,
            .period = 21,
            .best = 3,
            .worst = 3,
            .deadline = 19,
            .priority = 6},
           {.core = 0, .period = 21, .best = 2, .worst = 2, .deadline = 21, .priority = 3},
           {.core = 1, .before = 2, .period = 21, .deadline = 29, .priority = 5, .anywhere = true},
           {.core = 0,
            .before = 3,
            .period = 21,
            .best = 2,
            .worst = 2,
            .deadline = 4,
            .priority = 4},
           {.core = 1, .before = 4, .period = 21, .deadline = 16, .priority = 2}},
          1),
      7);
}

// c3 follows c1 too. It keeps core 0 from c2 while the other chain computes on core 1.
TEST(TwoChains, beside_what_else_one_leads_to_do_not_advance_together) {
  EXPECT_EQ(longest("np-fp",
                    {{.core = 1, .period = 13, .deadline = 21, .priority = 3},
                     {.core = 1,
                      .before = 0,
                      .period = 13,
                      .best = 2,
                      .worst = 3,
                      .deadline = 7,
                      .priority = 2},
                     {.core = 0, .before = 1, .period = 13, .deadline = 30, .priority = 1},
                     {.core = 0, .before = 1, .period = 13, .deadline = 17, .priority = 7},
                     {.core = 0, .period = 30, .best = 3, .worst = 3, .deadline = 6, .priority = 6},
                     {.core = 1, .before = 4, .period = 30, .deadline = 5, .priority = 5},
                     {.core = 0,
                      .before = 5,
                      .period = 30,
                      .best = 3,
                      .worst = 3,
                      .deadline = 23,
                      .priority = 4}},
                    2),
            11);
}

// c2 and c3 follow c1, so both may compute.
TEST(TwoChains, of_which_one_branches_do_not_advance_together) {
  EXPECT_EQ(
      longest("np-edf",
              {{.core = 0, .period = 27, .best = 3, .worst = 3, .deadline = 17, .priority = 1},
               {.core = 0, .before = 0, .period = 27, .deadline = 25, .priority = 2},
               {.core = 1, .before = 1, .period = 27, .deadline = 16, .priority = 3},
               {.core = 0,
                .before = 1,
                .period = 27,
                .best = 3,
                .worst = 3,
                .deadline = 15,
                .priority = 4},
               {.core = 0,
                .before = 2,
                .period = 27,
                .best = 3,
                .worst = 3,
                .deadline = 22,
                .priority = 5},
               {.core = 1, .period = 27, .deadline = 18, .priority = 6},
               {.core = 0,
                .before = 5,
                .period = 27,
                .best = 3,
                .worst = 3,
                .deadline = 29,
                .priority = 7}},
              6),
      14);
}

// c3 and c5 preempt c0, which has started.
TEST(TwoChains, meet_where_one_preempts_a_job_that_has_started) {
  EXPECT_EQ(
      longest("fp",
              {{.core = 0, .period = 17, .best = 2, .worst = 2, .deadline = 27, .priority = 1},
               {.core = 1,
                .before = 0,
                .period = 17,
                .best = 2,
                .worst = 2,
                .deadline = 26,
                .priority = 5},
               {.core = 1, .period = 17, .best = 3, .worst = 3, .deadline = 19, .priority = 3},
               {.core = 0,
                .before = 2,
                .period = 17,
                .best = 3,
                .worst = 3,
                .deadline = 28,
                .priority = 2},
               {.core = 1, .before = 3, .period = 17, .deadline = 30, .priority = 4},
               {.core = 0, .before = 4, .period = 17, .deadline = 22, .priority = 6}},
              1),
      8);
}

// c2 and c3 preempt c0, for their deadlines are earlier; their priorities, which are lower, say
// nothing.
TEST(TwoChains, meet_by_their_deadlines) {
  EXPECT_EQ(
      longest("edf",
              {{.core = 1, .period = 17, .best = 3, .worst = 3, .deadline = 21, .priority = 5},
               {.core = 0, .before = 0, .period = 17, .deadline = 9, .priority = 4},
               {.core = 1, .period = 27, .best = 2, .worst = 2, .deadline = 11, .priority = 3},
               {.core = 1,
                .before = 2,
                .period = 27,
                .best = 3,
                .worst = 3,
                .deadline = 4,
                .priority = 2},
               {.core = 0, .before = 3, .period = 27, .deadline = 16, .priority = 1},
               {.core = 0,
                .before = 4,
                .period = 27,
                .best = 3,
                .worst = 3,
                .deadline = 11,
                .priority = 7},
               {.core = 1,
                .before = 5,
                .period = 27,
                .best = 2,
                .worst = 2,
                .deadline = 27,
                .priority = 6}},
              1),
      10);
}

}  // namespace
}  // namespace takt::analysis
