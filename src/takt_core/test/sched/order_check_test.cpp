// SPDX-License-Identifier: Apache-2.0
#include "takt/sched/order_check.hpp"

#include "sched/support.hpp"
#include "takt/sched/ready_queue.hpp"

namespace takt::sched {
namespace {

Job job(TaskIndex task, int priority) {
  return {.task = task, .priority = priority};
}

std::optional<OrderRule> rule_of(const PolicyPtr& policy, const std::vector<Job>& jobs) {
  const auto violation = find_order_violation(*policy, jobs);
  return violation ? std::optional{violation->rule} : std::nullopt;
}

const std::vector<Job> three{job(0, 1), job(1, 2), job(2, 3)};

TEST(OrderCheck, finds_a_job_before_itself) {
  const auto policy =
      custom("not strict", [](const Job& a, const Job& b) { return a.priority >= b.priority; });
  EXPECT_EQ(rule_of(policy, {job(0, 1)}), OrderRule::irreflexive);
}

TEST(OrderCheck, finds_two_jobs_before_each_other) {
  const auto policy =
      custom("different", [](const Job& a, const Job& b) { return a.task != b.task; });
  EXPECT_EQ(rule_of(policy, {job(0, 1), job(1, 1)}), OrderRule::asymmetric);
}

TEST(OrderCheck, finds_a_circle) {
  const auto policy = custom("rock paper scissors",
                             [](const Job& a, const Job& b) { return (a.task + 1) % 3 == b.task; });
  EXPECT_EQ(rule_of(policy, three), OrderRule::transitive);
}

TEST(OrderCheck, finds_an_equivalence_that_does_not_carry_over) {
  const auto policy =
      custom("tolerance", [](const Job& a, const Job& b) { return a.priority > b.priority + 1; });
  EXPECT_EQ(rule_of(policy, three), OrderRule::equivalence);
}

TEST(OrderCheck, finds_nothing_wrong_with_any_policy_of_takt) {
  Random random{4};
  for (const std::string_view name : policy_names()) {
    for (int round = 0; round < 200; ++round) {
      ASSERT_FALSE(find_order_violation(*parse_policy(name), random.jobs(10))) << name;
    }
  }
}

TEST(OrderCheck, describes_the_jobs_that_break_the_rule) {
  const auto policy =
      custom("tolerance", [](const Job& a, const Job& b) { return a.priority > b.priority + 1; });
  EXPECT_EQ(describe(*policy, *find_order_violation(*policy, three)),
            "policy 'tolerance': its order is not a strict weak ordering: neither of a and b comes "
            "first, nor of b and c, but one of a and c does: a = task 0 job 0 (priority 1, release "
            "0 ns, deadline 0 ns, period 0 ns); b = task 1 job 0 (priority 2, release 0 ns, "
            "deadline 0 ns, period 0 ns); c = task 2 job 0 (priority 3, release 0 ns, deadline 0 "
            "ns, period 0 ns). Fix: compare the same key of both jobs with <.");
}

TEST(OrderWatch, reports_the_first_violation_and_no_other) {
  const auto policy =
      custom("not strict", [](const Job& a, const Job& b) { return a.priority >= b.priority; });
  OrderWatch watch;
  testing::internal::CaptureStderr();
  EXPECT_FALSE(watch.look(*edf(), three));
  EXPECT_TRUE(watch.look(*policy, three));
  EXPECT_FALSE(watch.look(*policy, three));
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_EQ(report.find("takt: policy 'not strict'"), 0U);
  EXPECT_EQ(report.find("takt:", 1), std::string::npos);
}

#ifndef NDEBUG
TEST(OrderWatch, looks_at_the_pending_jobs_in_debug_builds) {
  const auto policy =
      custom("different", [](const Job& a, const Job& b) { return a.task != b.task; });
  testing::internal::CaptureStderr();
  ReadyQueue queue{*policy, 2};
  ASSERT_TRUE(queue.push(job(0, 1)));
  ASSERT_TRUE(queue.push(job(1, 1)));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("come before each other"),
            std::string::npos);
  testing::internal::CaptureStderr();
  EXPECT_NE(policy->decide(three, {}, at(0ns)).job, Decision::none);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("come before each other"),
            std::string::npos);
}
#endif

TEST(Custom, refuses_what_could_not_be_distinguished_or_called) {
  const Comparator any = [](const Job&, const Job&) { return false; };
  EXPECT_EQ(error_of([&] { custom("", any); }),
            "custom policy: it has no name. Fix: give it one: traces and reports show it.");
  EXPECT_EQ(error_of([&] { custom("edf", any); }),
            "custom policy 'edf': a policy of Takt has this name. Fix: choose another name.");
  EXPECT_EQ(error_of([] { custom("mine", Comparator{}); }),
            "custom policy 'mine': it has no comparator. Fix: pass a function that says whether "
            "one job runs before another.");
}

}  // namespace
}  // namespace takt::sched
