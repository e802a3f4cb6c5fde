// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/placement.hpp"

#include <algorithm>
#include <map>

#include "sched/support.hpp"

namespace takt::sched {
namespace {

std::vector<Core> placed(const std::vector<Task>& tasks, const std::vector<int>& cpus) {
  std::vector<double> utilizations;
  for (const Task& task : tasks) {
    utilizations.push_back(utilization(task.parameters));
  }
  return place(tasks, utilizations, cpus);
}

Task on(Task task, int cpu, std::string group = "") {
  task.cpu = cpu;
  task.group = std::move(group);
  return task;
}

TEST(Placement, gives_the_heaviest_task_the_least_loaded_core) {
  const auto cores =
      placed({timer("a", 10ms, 3ms), timer("b", 10ms, 5ms), timer("c", 10ms, 4ms)}, {2, 0});
  ASSERT_EQ(cores.size(), 2U);
  EXPECT_EQ(cores[0].cpu, 2);
  EXPECT_EQ(cores[0].tasks, (std::vector<TaskIndex>{1}));
  EXPECT_EQ(cores[1].tasks, (std::vector<TaskIndex>{0, 2}));
  EXPECT_DOUBLE_EQ(cores[1].utilization, 0.7);
}

TEST(Placement, spreads_tasks_of_unknown_load_by_their_number) {
  const auto cores = placed({timer("a", 10ms), timer("b", 10ms), timer("c", 10ms)}, {0, 1});
  EXPECT_EQ(cores[0].tasks.size(), 2U);
  EXPECT_EQ(cores[1].tasks.size(), 1U);
}

TEST(Placement, counts_an_inactive_task_as_no_load) {
  Task task = timer("a", 10ms, 5ms);
  EXPECT_DOUBLE_EQ(utilization(task.parameters), 0.5);
  task.parameters.active = false;
  EXPECT_DOUBLE_EQ(utilization(task.parameters), 0);
}

TEST(Placement, places_every_task_once_keeps_groups_together_and_does_what_tasks_ask_for) {
  Random random{31};
  for (int round = 0; round < 2000; ++round) {
    const int count = random.number(1, 4);
    std::vector<int> cpus;
    for (int i = 0; i < count; ++i) {
      cpus.push_back(i * 2);
    }
    std::vector<Task> tasks;
    std::map<std::string, int> asked;
    for (int i = random.number(0, 20); i > 0; --i) {
      Task task = timer(std::to_string(i), random.time(5, 40), random.time(0, 5));
      if (random.chance(0.5)) {
        task.group = std::to_string(random.number(1, 4));
      }
      if (random.chance(0.3)) {
        const int cpu = cpus[static_cast<std::size_t>(random.number(0, count - 1))];
        task.cpu = task.group.empty() ? cpu : asked.try_emplace(task.group, cpu).first->second;
      }
      tasks.push_back(task);
    }
    std::map<TaskIndex, int> cpu_of;
    double most = 0;
    double sum = 0;
    for (const Core& core : placed(tasks, cpus)) {
      EXPECT_TRUE(std::is_sorted(core.tasks.begin(), core.tasks.end()));
      for (const TaskIndex task : core.tasks) {
        ASSERT_TRUE(cpu_of.emplace(task, core.cpu).second);
      }
      most = std::max(most, core.utilization);
      sum += core.utilization;
    }
    ASSERT_EQ(cpu_of.size(), tasks.size());
    std::map<std::string, int> group_cpu;
    double total = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const int cpu = cpu_of.at(static_cast<TaskIndex>(i));
      total += utilization(tasks[i].parameters);
      ASSERT_TRUE(tasks[i].cpu < 0 || tasks[i].cpu == cpu);
      if (!tasks[i].group.empty()) {
        ASSERT_EQ(group_cpu.try_emplace(tasks[i].group, cpu).first->second, cpu);
      }
    }
    ASSERT_NEAR(sum, total, 1e-9);
  }
}

TEST(Placement, gives_who_comes_the_core_that_others_have_left) {
  std::vector<Task> tasks{on(timer("stays", 10ms), 0)};
  for (int i = 0; i < 10; ++i) {
    tasks.push_back(timer("has gone", 10ms));
    tasks.back().vacant = true;
  }
  tasks.push_back(timer("comes", 10ms));
  EXPECT_TRUE(std::ranges::count(placed(tasks, {0, 1})[1].tasks, tasks.size() - 1));
}

TEST(Placement, keeps_the_lanes_of_a_callback_apart) {
  std::vector<Task> tasks{on(timer("heavy", 1ms), 0)};
  for (int lane = 0; lane < 4; ++lane) {
    tasks.push_back(timer("lane " + std::to_string(lane), 10ms));
    tasks.back().lane_of = "lane 0";
  }
  const std::vector<Core> cores = placed(tasks, {0, 1});
  EXPECT_EQ(cores[0].tasks.size(), 3U);
  EXPECT_EQ(cores[1].tasks.size(), 2U);
}

TEST(Placement, refuses_groups_whose_members_ask_for_different_cores) {
  EXPECT_EQ(error_of([] {
              placed({on(timer("a", 1ms), 0, "bus"), on(timer("b", 1ms), -1, "bus"),
                      on(timer("c", 1ms), 1, "bus")},
                     {0, 1});
            }),
            "group 'bus': its members must run on one core, but task 'a' asks for core 0 and task "
            "'c' for core 1. Fix: ask for the same core, or take one of them out of the group.");
}

TEST(Placement, refuses_cores_that_are_not_there) {
  EXPECT_EQ(error_of([] { placed({on(timer("a", 1ms), 3)}, {0, 1}); }),
            "task 'a': it asks for core 3, which is not among the cores of this executor. Fix: "
            "ask for one of them, or add the core to the executor.");
  EXPECT_EQ(error_of([] { placed({}, {}); }),
            "cores: none is given. Fix: name at least one, such as cpus = {1}.");
  EXPECT_EQ(error_of([] { placed({}, {1, 1}); }),
            "cores: core 1 is named twice. Fix: name each core once, from 0.");
  EXPECT_EQ(error_of([] { placed({}, {-1}); }),
            "cores: core -1 does not exist. Fix: name each core once, from 0.");
}

}  // namespace
}  // namespace takt::sched
