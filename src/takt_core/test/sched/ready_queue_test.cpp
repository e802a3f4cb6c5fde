// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/ready_queue.hpp"

#include <algorithm>
#include <tuple>

#include "sched/support.hpp"

namespace takt::sched {
namespace {

// Each policy's order as a sort key that was written down apart from the policy.
using Key = std::tuple<std::int64_t, std::int64_t, TaskIndex, std::uint64_t>;

Key key_of(const Policy& policy, const Job& job) {
  const std::string name{policy.name()};
  const std::int64_t release = job.release.time_since_epoch().count();
  if (name == "edf" || name == "np-edf" || name == "cw-edf") {
    return {job.deadline.time_since_epoch().count(), release, job.task, job.index};
  }
  if (name == "longest first") {
    return {-job.expected_execution.count(), release, job.task, job.index};
  }
  return {98 - job.priority, release, job.task, job.index};
}

std::vector<PolicyPtr> all_policies() {
  std::vector<PolicyPtr> policies;
  for (const std::string_view name : policy_names()) {
    policies.push_back(parse_policy(name));
  }
  policies.push_back(custom("longest first", [](const Job& a, const Job& b) {
    return a.expected_execution > b.expected_execution;
  }));
  return policies;
}

std::vector<Key> keys_of(const Policy& policy, const std::vector<Job>& jobs) {
  std::vector<Key> keys;
  keys.reserve(jobs.size());
  for (const Job& job : jobs) {
    keys.push_back(key_of(policy, job));
  }
  return keys;
}

std::vector<Job> drained(ReadyQueue& queue) {
  std::vector<Job> jobs;
  while (!queue.empty()) {
    const Job top = queue.top();
    jobs.push_back(queue.pop());
    EXPECT_EQ(top.task, jobs.back().task);
  }
  return jobs;
}

TEST(Policy, states_the_order_that_its_comparison_has) {
  Random random{9};
  for (const PolicyPtr& policy : all_policies()) {
    for (int round = 0; round < 2000; ++round) {
      const Job a = random.job(0);
      const Job b = random.job(1);
      ASSERT_EQ(runs_before(policy->order(), *policy, a, b), runs_before(*policy, a, b))
          << policy->name();
    }
  }
}

TEST(ReadyQueue, pops_random_jobs_in_the_order_of_the_policy) {
  Random random{1};
  for (const PolicyPtr& policy : all_policies()) {
    SCOPED_TRACE(policy->name());
    for (int round = 0; round < 500; ++round) {
      const std::vector<Job> jobs = random.jobs(30);
      ReadyQueue queue{*policy, jobs.size()};
      for (const Job& job : jobs) {
        ASSERT_TRUE(queue.push(job));
      }
      std::vector<Key> expected = keys_of(*policy, jobs);
      std::sort(expected.begin(), expected.end());
      ASSERT_EQ(keys_of(*policy, drained(queue)), expected) << "round " << round;
    }
  }
}

TEST(ReadyQueue, keeps_its_order_under_any_sequence_of_changes) {
  Random random{2};
  const std::vector<PolicyPtr> policies = all_policies();
  for (int round = 0; round < 500; ++round) {
    const Policy* policy = policies[0].get();
    ReadyQueue queue{*policy, 40};
    std::vector<Job> model;
    for (int step = 0; step < 100; ++step) {
      const int action = random.number(0, 9);
      if (action < 6) {
        Job job = random.job(static_cast<TaskIndex>(random.number(0, 9)));
        job.index = static_cast<std::uint64_t>(step);
        const bool fits = model.size() < 40;
        ASSERT_EQ(queue.push(job) != nullptr, fits);
        if (fits) {
          model.push_back(job);
        }
      } else if (action == 6) {
        policy = policies[static_cast<std::size_t>(random.number(0, 8))].get();
        queue.set_policy(*policy);
      } else if (action == 7) {
        const auto task = static_cast<TaskIndex>(random.number(0, 9));
        const std::size_t removed =
            std::erase_if(model, [task](const Job& job) { return job.task == task; });
        ASSERT_EQ(queue.remove(task), removed);
      } else if (action == 8 && !model.empty()) {
        const Job job =
            model[static_cast<std::size_t>(random.number(0, static_cast<int>(model.size()) - 1))];
        ASSERT_TRUE(queue.remove(job.task, job.index));
        ASSERT_FALSE(queue.remove(job.task, job.index));
        std::erase_if(model, [&](const Job& other) {
          return other.task == job.task && other.index == job.index;
        });
      } else if (!model.empty()) {
        const auto best = std::min_element(
            model.begin(), model.end(),
            [&](const Job& a, const Job& b) { return key_of(*policy, a) < key_of(*policy, b); });
        ASSERT_EQ(key_of(*policy, queue.pop()), key_of(*policy, *best));
        model.erase(best);
      }
      ASSERT_EQ(queue.size(), model.size());
    }
  }
}

TEST(ReadyQueue, refuses_a_job_above_its_capacity_and_stays_as_it_is) {
  const PolicyPtr policy = edf();
  ReadyQueue queue{*policy, 1};
  EXPECT_TRUE(queue.push({.task = 1, .deadline = at(5ms)}));
  EXPECT_FALSE(queue.push({.task = 2, .deadline = at(1ms)}));
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue.top().task, 1U);
}

TEST(ReadyQueue, orders_ties_by_release_then_by_task_then_by_index) {
  const PolicyPtr policy = fixed_priority();
  ReadyQueue queue{*policy, 4};
  ASSERT_TRUE(queue.push({.task = 1, .priority = 5, .index = 1, .release = at(2ms)}));
  ASSERT_TRUE(queue.push({.task = 1, .priority = 5, .index = 0, .release = at(2ms)}));
  ASSERT_TRUE(queue.push({.task = 0, .priority = 5, .index = 7, .release = at(2ms)}));
  ASSERT_TRUE(queue.push({.task = 9, .priority = 5, .index = 3, .release = at(1ms)}));
  std::vector<std::uint64_t> order;
  for (const Job& job : drained(queue)) {
    order.push_back(job.index);
  }
  EXPECT_EQ(order, (std::vector<std::uint64_t>{3, 7, 0, 1}));
}

TEST(Policy, decides_for_the_job_that_a_sort_puts_first) {
  Random random{3};
  for (const PolicyPtr& policy : all_policies()) {
    SCOPED_TRACE(policy->name());
    for (int round = 0; round < 500; ++round) {
      const std::vector<Job> jobs = random.jobs(20);
      const std::vector<Key> keys = keys_of(*policy, jobs);
      const auto best = std::min_element(keys.begin(), keys.end()) - keys.begin();
      // Without a future release no policy has a reason to idle.
      const Decision decision = policy->decide(jobs, {}, at(10ms));
      ASSERT_EQ(decision.job, static_cast<std::size_t>(best)) << "round " << round;
    }
  }
}

TEST(Policy, is_what_its_name_says) {
  EXPECT_TRUE(fixed_priority()->preemptive() && fixed_priority()->fixed_priority());
  EXPECT_TRUE(rate_monotonic()->preemptive() && rate_monotonic()->fixed_priority());
  EXPECT_TRUE(deadline_monotonic()->preemptive() && deadline_monotonic()->fixed_priority());
  EXPECT_TRUE(edf()->preemptive() && !edf()->fixed_priority());
  EXPECT_TRUE(!non_preemptive_fixed_priority()->preemptive() &&
              non_preemptive_fixed_priority()->fixed_priority());
  EXPECT_TRUE(!non_preemptive_edf()->preemptive() && !non_preemptive_edf()->fixed_priority());
  EXPECT_TRUE(!precautious_rm()->preemptive() && precautious_rm()->fixed_priority());
  EXPECT_TRUE(!cw_edf()->preemptive() && !cw_edf()->fixed_priority());
  for (const std::string_view name : policy_names()) {
    EXPECT_EQ(parse_policy(name)->name(), name);
  }
}

TEST(Policy, of_an_unknown_name_is_refused_with_the_nearest_name) {
  EXPECT_EQ(error_of([] { parse_policy("efd"); }),
            "policy 'efd': there is no such policy. Fix: did you mean 'edf'?.");
  EXPECT_EQ(error_of([] { parse_policy("EDF"); }),
            "policy 'EDF': there is no such policy. Fix: did you mean 'edf'?.");
  EXPECT_EQ(error_of([] { parse_policy("round-robin"); }),
            "policy 'round-robin': there is no such policy. Fix: choose one of 'fp', 'rm', "
            "'dm', 'edf', 'np-fp', 'np-edf', 'p-rm', 'cw-edf'.");
  EXPECT_NE(error_of([] { parse_policy(""); }), "");
}

}  // namespace
}  // namespace takt::sched
