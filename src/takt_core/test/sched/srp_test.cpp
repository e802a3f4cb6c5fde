// SPDX-License-Identifier: Apache-2.0
//
// The promises of the stack resource policy, on random task sets with random exclusive groups, on
// one simulated core.
#include "takt/sched/srp.hpp"

#include <algorithm>
#include <set>

#include "sched/simulation.hpp"
#include "sched/support.hpp"

namespace takt::sched {
namespace {

using JobId = std::pair<TaskIndex, std::uint64_t>;

JobId id(const Job& job) {
  return {job.task, job.index};
}

std::vector<Task> random_tasks(Random& random) {
  std::vector<Task> tasks;
  const int count = random.number(2, 8);
  const int groups = random.number(1, 3);
  for (int i = 0; i < count; ++i) {
    Task task = timer(std::to_string(i), random.time(5, 40), 0ns, random.number(1, 98));
    task.parameters.offset = random.time(0, 20);
    task.parameters.expected_execution = random.time(1, 5);
    if (random.chance(0.5)) {
      task.parameters.deadline = std::chrono::milliseconds{random.number(5, 60)};
    }
    if (random.chance(0.7)) {
      task.group = "group " + std::to_string(random.number(1, groups));
    }
    tasks.push_back(task);
  }
  return tasks;
}

struct Broken {
  int deadlocks = 0;  // jobs that were released and never ended
  int overlaps = 0;   // jobs of one group that were started at the same time
  int multiple = 0;   // jobs that waited for more than one job that comes after them
  int late = 0;       // jobs that waited for such a job after they had started
  int blocked = 0;    // jobs that waited for one: what the protocol allows
};

Broken examine(const std::vector<Task>& tasks, const Policy& policy, const Schedule& schedule) {
  Broken broken;
  broken.deadlocks = static_cast<int>(schedule.released - schedule.finished.size());
  for (const Finished& job : schedule.finished) {
    std::set<JobId> before_start;
    for (const Slice& slice : schedule.slices) {
      const bool lower = policy.before(job.job, slice.job);
      if (lower && slice.from >= job.job.release && slice.from < job.start) {
        before_start.insert(id(slice.job));
      }
      broken.late += lower && slice.from >= job.start && slice.from < job.end ? 1 : 0;
    }
    broken.multiple += before_start.size() > 1 ? 1 : 0;
    broken.blocked += before_start.size() == 1 ? 1 : 0;
    for (const Finished& other : schedule.finished) {
      const std::string& group = tasks[job.job.task].group;
      if (!group.empty() && group == tasks[other.job.task].group && id(job.job) < id(other.job) &&
          job.start < other.end && other.start < job.end) {
        ++broken.overlaps;
      }
    }
  }
  return broken;
}

Broken total(const PolicyPtr& policy, int rounds, const SimulationOptions& options) {
  Random random{11};
  Broken sum;
  for (int round = 0; round < rounds; ++round) {
    const std::vector<Task> tasks = random_tasks(random);
    const CompiledScenario scenario{"test", policy, TaskSet{tasks, *policy}};
    const Broken one = examine(tasks, *policy, simulate(scenario, at(120ms), options));
    sum.deadlocks += one.deadlocks;
    sum.overlaps += one.overlaps;
    sum.multiple += one.multiple;
    sum.late += one.late;
    sum.blocked += one.blocked;
  }
  return sum;
}

PolicyPtr most_work_first() {
  return custom("most work first", [](const Job& a, const Job& b) {
    return a.expected_execution > b.expected_execution;
  });
}

class StackResourcePolicy : public testing::TestWithParam<PolicyPtr> {};

TEST_P(StackResourcePolicy, keeps_groups_exclusive_without_deadlock_and_blocks_once_before_start) {
  const Broken broken = total(GetParam(), 1000, {});
  EXPECT_EQ(broken.deadlocks, 0);
  EXPECT_EQ(broken.overlaps, 0);
  EXPECT_EQ(broken.multiple, 0);
  EXPECT_EQ(broken.late, 0);
  EXPECT_GT(broken.blocked, 1000) << "the sets must make jobs wait for each other";
}

TEST_P(StackResourcePolicy, is_what_keeps_groups_exclusive) {
  EXPECT_GT(total(GetParam(), 200, {.use_ceilings = false}).overlaps, 100);
}

INSTANTIATE_TEST_SUITE_P(Policies, StackResourcePolicy,
                         testing::Values(fixed_priority(), rate_monotonic(), edf(),
                                         most_work_first()),
                         [](const auto& tested) {
                           std::string name{tested.param->name()};
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

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

TEST(SystemCeiling, rises_and_falls_with_the_stack) {
  const PolicyPtr policy = fixed_priority();
  const Ceilings ceilings{grouped(), *policy};
  SystemCeiling system{ceilings, 2};
  EXPECT_TRUE(system.may_start({.task = 0}));
  EXPECT_FALSE(system.pop());
  ASSERT_TRUE(system.push({.task = 0}));
  EXPECT_FALSE(system.may_start({.task = 1}));
  EXPECT_FALSE(system.may_start({.task = 2}));
  EXPECT_TRUE(system.may_start({.task = 3}));
  ASSERT_TRUE(system.push({.task = 3}));
  EXPECT_EQ(system.ceiling(), 30) << "a job without a group leaves the ceiling as it is";
  EXPECT_FALSE(system.push({.task = 3}));
  EXPECT_TRUE(system.pop());
  EXPECT_TRUE(system.pop());
  EXPECT_EQ(system.ceiling(), no_ceiling);
}

TEST(SystemCeiling, keeps_everything_out_of_held_groups_across_a_change_of_scenario) {
  // By its number alone any priority is above any level of EDF.
  const Ceilings before{grouped(), *edf()};
  const Ceilings after{grouped(), *fixed_priority()};
  SystemCeiling system{before, 4};
  ASSERT_TRUE(system.push({.task = 1}));
  ASSERT_TRUE(system.push({.task = 2}));
  system.set_ceilings(after);
  EXPECT_FALSE(system.may_start({.task = 3}));
  EXPECT_TRUE(system.pop());
  EXPECT_TRUE(system.may_start({.task = 3}));
}

}  // namespace
}  // namespace takt::sched
