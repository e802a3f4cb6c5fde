// SPDX-License-Identifier: Apache-2.0
//
// The promises of the stack resource policy, on random task sets with random exclusive groups.
#include "takt/sched/srp.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "sim/schedule.hpp"

namespace takt::sim {
namespace {

using namespace sched;  // NOLINT(google-build-using-namespace): the tests are about its policies

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
  int overlaps = 0;  // jobs of one group that were started at the same time
  int multiple = 0;  // jobs that waited for more than one job that comes after them
  int late = 0;      // jobs that waited for such a job after they had started
  int blocked = 0;   // jobs that waited for one: what the protocol allows

  void operator+=(const Broken& other) {
    overlaps += other.overlaps;
    multiple += other.multiple;
    late += other.late;
    blocked += other.blocked;
  }
};

Broken examine(const std::vector<Task>& tasks, const Policy& policy, const Schedule& schedule) {
  std::map<JobId, Job> jobs;
  for (const Finished& job : schedule.finished) {
    jobs[job.id] = {.task = job.id.first,
                    .priority = static_cast<int>(job.priority),
                    .index = job.id.second,
                    .release = job.release,
                    .deadline = at(nanoseconds{job.deadline}),
                    .expected_execution = tasks[job.id.first].parameters.expected_execution};
  }
  Broken broken;
  for (const Finished& job : schedule.finished) {
    std::set<JobId> before_start;
    for (const Piece& piece : schedule.pieces) {
      const bool lower = jobs.contains(piece.id) && policy.before(jobs[job.id], jobs[piece.id]);
      if (lower && piece.to > job.release && piece.from < job.start) {
        before_start.insert(piece.id);
      }
      broken.late += lower && piece.from >= job.start && piece.from < job.end ? 1 : 0;
    }
    broken.multiple += before_start.size() > 1 ? 1 : 0;
    broken.blocked += before_start.size() == 1 ? 1 : 0;
    for (const Finished& other : schedule.finished) {
      const std::string& group = tasks[job.id.first].group;
      if (!group.empty() && group == tasks[other.id.first].group && job.id < other.id &&
          job.start < other.end && other.start < job.end) {
        ++broken.overlaps;
      }
    }
  }
  return broken;
}

Broken total(const PolicyPtr& policy, int rounds, bool with_groups) {
  Random random{11};
  Broken sum;
  for (int round = 0; round < rounds; ++round) {
    const std::vector<Task> tasks = random_tasks(random);
    std::vector<Task> simulated = tasks;
    for (Task& task : simulated) {
      task.group = with_groups ? task.group : "";
    }
    sum += examine(tasks, *policy, schedule(application(simulated, policy), 120ms));
  }
  return sum;
}

PolicyPtr most_work_first() {
  return custom("most work first", [](const Job& a, const Job& b) {
    return a.expected_execution > b.expected_execution;
  });
}

class StackResourcePolicy : public testing::TestWithParam<PolicyPtr> {};

TEST_P(StackResourcePolicy, keeps_groups_exclusive_and_blocks_once_before_the_start) {
  const Broken broken = total(GetParam(), 500, true);
  EXPECT_EQ(broken.overlaps, 0);
  EXPECT_EQ(broken.multiple, 0);
  EXPECT_EQ(broken.late, 0);
  EXPECT_GT(broken.blocked, 300) << "the sets must make jobs wait for each other";
}

TEST_P(StackResourcePolicy, is_what_keeps_groups_exclusive) {
  EXPECT_GT(total(GetParam(), 200, false).overlaps, 100);
}

INSTANTIATE_TEST_SUITE_P(Policies, StackResourcePolicy,
                         testing::Values(fixed_priority(), rate_monotonic(), edf(),
                                         most_work_first()),
                         [](const auto& tested) {
                           std::string name{tested.param->name()};
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace takt::sim
