// SPDX-License-Identifier: Apache-2.0
//
// Levels and ceilings by hand; the promises of the stack resource policy are tested in sim/.
#include "takt/sched/srp.hpp"

#include "sched/support.hpp"

namespace takt::sched {
namespace {

PolicyPtr most_work_first() {
  return custom("most work first", [](const Job& a, const Job& b) {
    return a.expected_execution > b.expected_execution;
  });
}

std::vector<Task> grouped() {
  std::vector<Task> tasks{timer("low", 40ms, 1ms, 10), timer("middle", 20ms, 1ms, 20),
                          timer("high", 10ms, 1ms, 30), timer("top", 5ms, 1ms, 40)};
  tasks[0].group = "bus";
  tasks[2].group = "bus";
  return tasks;
}

TEST(Ceilings, of_fixed_priority_are_the_highest_priorities_of_the_members) {
  const PolicyPtr policy = fixed_priority();
  const Ceilings ceilings{grouped(), *policy};
  EXPECT_TRUE(ceilings.has_levels());
  EXPECT_EQ(ceilings.level(0), 10);
  EXPECT_EQ(ceilings.ceiling(0), 30);
  EXPECT_EQ(ceilings.ceiling(1), no_ceiling);
  EXPECT_EQ(ceilings.ceiling(2), 30);
  EXPECT_EQ(ceilings.depth(std::vector<TaskIndex>{0, 1, 2, 3}), 4U);
  EXPECT_TRUE(ceilings.could_preempt(3, 0));
  EXPECT_FALSE(ceilings.could_preempt(1, 0));  // 20 is not above the ceiling 30
  EXPECT_TRUE(ceilings.could_preempt(2, 1));
  EXPECT_FALSE(ceilings.could_preempt(0, 1));
}

TEST(Ceilings, of_edf_go_by_the_shortest_relative_deadline) {
  const Ceilings ceilings{grouped(), *edf()};
  EXPECT_EQ(ceilings.level(3), -5'000'000);
  EXPECT_EQ(ceilings.ceiling(0), -10'000'000);
  EXPECT_TRUE(ceilings.could_preempt(3, 0));
  EXPECT_FALSE(ceilings.could_preempt(1, 0));
}

TEST(Ceilings, of_edf_have_tasks_without_a_deadline_below_all_others) {
  std::vector<Task> tasks = grouped();
  tasks.push_back(message("log", "topic"));
  const Ceilings ceilings{tasks, *edf()};
  for (TaskIndex task = 0; task < 4; ++task) {
    EXPECT_GT(ceilings.level(task), ceilings.level(4));
    EXPECT_FALSE(ceilings.could_preempt(4, task));
  }
  EXPECT_GT(ceilings.level(4), no_ceiling);
  EXPECT_EQ(ceilings.depth(std::vector<TaskIndex>{3, 4}), 2U);
}

// Noticed late, it may be due before a job of its own level that has started.
TEST(Ceilings, leave_room_for_every_task_that_is_noticed_late) {
  std::vector<Task> tasks{timer("a", 20ms, 1ms), timer("b", 20ms, 1ms), timer("c", 20ms, 1ms)};
  EXPECT_EQ(Ceilings(tasks, *edf()).depth(std::vector<TaskIndex>{0, 1, 2}), 1U);
  tasks[2].jitter = 5ms;
  EXPECT_EQ(Ceilings(tasks, *edf()).depth(std::vector<TaskIndex>{0, 1, 2}), 2U);
}

// Released early, it is due when its reader is released, which may be before its own deadline.
TEST(Ceilings, leave_room_for_sources_that_are_released_early) {
  const std::vector<Task> tasks{timer("a", 20ms, 1ms, 3), timer("b", 20ms, 1ms, 2),
                                timer("c", 20ms, 1ms, 1)};
  const std::vector<TaskIndex> all{0, 1, 2};
  std::vector<AgeConstraint> ages(1);
  ages[0] = {.reader = 0, .topic = "t", .max_age = 20ms, .source = 2, .oldest = 40ms};
  EXPECT_EQ(Ceilings(tasks, *edf(), ages).depth(all), 2U);
  EXPECT_EQ(Ceilings(tasks, *fixed_priority(), ages).depth(all), 3U);
  ages[0].max_age = 40ms;  // which needs no early release
  EXPECT_EQ(Ceilings(tasks, *edf(), ages).depth(all), 1U);
}

TEST(Ceilings, of_a_comparator_without_levels_let_nothing_preempt_a_group) {
  const PolicyPtr policy = most_work_first();
  const Ceilings ceilings{grouped(), *policy};
  EXPECT_FALSE(ceilings.has_levels());
  EXPECT_EQ(ceilings.ceiling(0), infinite_ceiling);
  EXPECT_FALSE(ceilings.could_preempt(3, 0));
  EXPECT_TRUE(ceilings.could_preempt(0, 3));
  EXPECT_FALSE(ceilings.could_preempt(1, 1));
  EXPECT_EQ(ceilings.depth(std::vector<TaskIndex>{0, 1, 2}), 3U);
}

TEST(Ceilings, of_a_comparator_with_levels_are_as_fine_as_those_of_takts_policies) {
  const PolicyPtr policy =
      custom("shortest period", [](const Job& a, const Job& b) { return a.period < b.period; },
             {.level = [](const TaskParameters& task) { return -task.period.count(); }});
  const Ceilings ceilings{grouped(), *policy};
  EXPECT_TRUE(ceilings.could_preempt(3, 0));
  EXPECT_FALSE(ceilings.could_preempt(1, 0));
}

}  // namespace
}  // namespace takt::sched
