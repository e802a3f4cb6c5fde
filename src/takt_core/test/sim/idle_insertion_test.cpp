// SPDX-License-Identifier: Apache-2.0
//
// Precautious-RM and CW-EDF on the published examples, and against the published rules written down
// once more, straight from the papers.
#include <algorithm>

#include "sched/support.hpp"
#include "sim/schedule.hpp"

namespace takt::sim {
namespace {

using namespace sched;  // NOLINT(google-build-using-namespace): the tests are about its policies

bool meets(const std::vector<Task>& tasks, const PolicyPtr& policy, nanoseconds end) {
  return simulate(application(tasks, policy), {.duration = end}).misses == 0;
}

PolicyPtr np_rm() {
  return custom("np-rm", [](const Job& a, const Job& b) { return a.period < b.period; },
                {.preemptive = false});
}

// Nasri & Fohler 2016, Fig. 1: execution times 1, 8, 17; periods 10, 30, 60.
const std::vector<Task> figure_1{timer("1", 10ms, 1ms), timer("2", 30ms, 8ms),
                                 timer("3", 60ms, 17ms)};
// Fig. 2: 3, 6, 8; 10, 12, 60.
const std::vector<Task> figure_2{timer("1", 10ms, 3ms), timer("2", 12ms, 6ms),
                                 timer("3", 60ms, 8ms)};

TEST(PrecautiousRm, meets_the_deadlines_of_figure_1_which_work_conserving_rm_misses) {
  EXPECT_FALSE(meets(figure_1, np_rm(), 120ms));
  EXPECT_TRUE(meets(figure_1, precautious_rm(), 120ms));
}

TEST(PrecautiousRm, misses_a_deadline_of_figure_2) {
  EXPECT_FALSE(meets(figure_2, np_rm(), 120ms));
  EXPECT_FALSE(meets(figure_2, precautious_rm(), 120ms));
}

TEST(CwEdf, meets_the_deadlines_of_figure_2_which_work_conserving_edf_misses) {
  EXPECT_FALSE(meets(figure_2, non_preemptive_edf(), 120ms));
  EXPECT_TRUE(meets(figure_2, cw_edf(), 120ms));
}

TEST(CwEdf, meets_deadlines_where_the_next_job_of_more_than_one_task_counts) {
  const std::vector<Task> tasks{timer("1", 10ms, 3ms), timer("2", 15ms, 8ms),
                                timer("3", 60ms, 8ms)};
  EXPECT_FALSE(meets(tasks, non_preemptive_edf(), 120ms));
  EXPECT_TRUE(meets(tasks, cw_edf(), 120ms));
}

TEST(PrecautiousRm, idles_by_hand_calculation) {
  // At 1 ms task 2 (8 ms) still fits before the next job of task 1 is due at 20: 1 + 8 + 1 <= 20.
  // At 9 task 3 does not: 9 + 17 + 1 > 20; the core idles until 10.
  const Schedule schedule = sim::schedule(application(figure_1, precautious_rm()), 28ms);
  const Schedule::Summary expected{
      {0, {0ms, 1ms}}, {1, {1ms, 9ms}}, {0, {10ms, 11ms}}, {2, {11ms, 28ms}}};
  EXPECT_EQ(schedule.summary(), expected);
}

TEST(PrecautiousRm, never_holds_the_highest_priority_back) {
  Random random{5};
  const PolicyPtr policy = precautious_rm();
  for (int round = 0; round < 2000; ++round) {
    std::vector<Job> jobs = random.jobs(8);
    std::vector<Job> next = random.jobs(8);
    jobs.front().priority = 6;  // above all others
    for (Job& job : next) {
      job.release += 10ms;
      job.deadline += 10ms;
    }
    ASSERT_EQ(policy->decide(jobs, next, at(9ms)).job, 0U);
  }
}

// A task set whose deadlines all policies here accept.
std::vector<Task> random_tasks(Random& random, int most) {
  std::vector<Task> tasks;
  const int count = random.number(2, most);
  const std::vector<nanoseconds> periods{10ms, 12ms, 15ms, 20ms, 30ms, 60ms};
  for (int i = 0; i < count; ++i) {
    const nanoseconds period = periods[static_cast<std::size_t>(random.number(0, 5))];
    Task task = timer(std::to_string(i), period, 0ns);
    task.parameters.expected_execution = std::max<nanoseconds>(
        1ms, std::chrono::milliseconds{period / 1ms * random.number(2, 45) / 100});
    task.parameters.offset = random.chance(0.5) ? 0ms : random.time(0, 9);
    if (random.chance(0.3)) {
      task.parameters.deadline =
          std::max(task.parameters.expected_execution, period - random.time(0, 4));
    }
    tasks.push_back(task);
  }
  return tasks;
}

// The published rule of CW-EDF: behind J, the next job of every other task, pending or not, must be
// in time when they run back to back in the order of their deadlines.
class PublishedCwEdf final : public Policy {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "published"; }
  [[nodiscard]] bool preemptive() const noexcept override { return false; }
  [[nodiscard]] bool fixed_priority() const noexcept override { return false; }
  [[nodiscard]] bool work_conserving() const noexcept override { return false; }
  [[nodiscard]] bool before(const Job& a, const Job& b) const noexcept override {
    return a.deadline < b.deadline;
  }
  void prepare(std::vector<Task>&) const override {}

  [[nodiscard]] Decision decide(std::span<const Job> pending, std::span<const Job> next,
                                TimePoint time) const noexcept override {
    const std::size_t first = first_job(*this, pending);
    std::vector<Job> jobs;
    const auto add = [&](const Job& job) {
      const bool known = std::any_of(jobs.begin(), jobs.end(),
                                     [&](const Job& other) { return other.task == job.task; });
      if (job.task != pending[first].task && !known) {
        jobs.push_back(job);
      }
    };
    std::vector<Job> by_release(pending.begin(), pending.end());
    by_release.insert(by_release.end(), next.begin(), next.end());
    std::stable_sort(by_release.begin(), by_release.end(),
                     [](const Job& a, const Job& b) { return a.release < b.release; });
    std::for_each(by_release.begin(), by_release.end(), add);
    std::sort(jobs.begin(), jobs.end(),
              [](const Job& a, const Job& b) { return a.deadline < b.deadline; });
    TimePoint end = time + pending[first].expected_execution;
    TimePoint wake = TimePoint::max();
    bool late = false;
    for (const Job& job : jobs) {
      end += job.expected_execution;
      late = late || end > job.deadline;
    }
    for (const Job& job : next) {
      wake = std::min(wake, job.release);
    }
    if (late && wake != TimePoint::max()) {
      return {.job = Decision::none, .idle_until = wake};
    }
    return {.job = first, .idle_until = {}};
  }
};

TEST(CwEdf, schedules_as_the_published_rule_whenever_that_meets_all_deadlines) {
  Random random{6};
  const auto published = std::make_shared<PublishedCwEdf>();
  int met = 0;
  int idled = 0;
  for (int round = 0; round < 1000; ++round) {
    const std::vector<Task> tasks = random_tasks(random, 5);
    const auto summary = [&](const PolicyPtr& policy) {
      return sim::schedule(application(tasks, policy), 150ms).summary();
    };
    if (!meets(tasks, published, 150ms)) {
      continue;
    }
    ++met;
    const Schedule::Summary expected = summary(published);
    ASSERT_EQ(summary(cw_edf()), expected) << "round " << round;
    idled += expected != summary(non_preemptive_edf()) ? 1 : 0;
  }
  EXPECT_GT(met, 100);
  EXPECT_GT(idled, 10) << "too few sets on which idling makes a difference";
}

TEST(CwEdf, runs_jobs_of_every_task_under_overload_too) {
  Random random{7};
  for (int round = 0; round < 300; ++round) {
    std::vector<Task> tasks = random_tasks(random, 5);
    for (Task& task : tasks) {
      task.parameters.expected_execution = relative_deadline(task.parameters);
    }
    const Result result = simulate(application(tasks, cw_edf()), {.duration = 1s});
    for (const CallbackResult& callback : result.callbacks) {
      ASSERT_GT(callback.jobs, 0U) << "round " << round;
    }
    // The core idles at most until a job that comes before the waiting one is released.
    ASSERT_GT(result.cores[0].busy, 300ms);
  }
}

TEST(PrecautiousRm, starts_a_job_exactly_when_the_published_rule_allows_it) {
  Random random{8};
  const PolicyPtr policy = precautious_rm();
  int waits = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<Job> pending = random.jobs(4);
    std::vector<Job> next = random.jobs(4);
    const TimePoint time = at(8ms);
    for (Job& job : next) {
      job.release = time + random.time(1, 6);
      job.deadline = job.release + job.expected_execution + random.time(0, 4);
      job.task += 4;
    }
    next.front().priority = 6;  // the highest priority of all: task 1 of the paper
    const Decision decision = policy->decide(pending, next, time);
    const Job& first = pending[first_job(*policy, pending)];
    const Job& one = next.front();
    const bool allowed = time + first.expected_execution + one.expected_execution <= one.deadline;
    ASSERT_EQ(decision.job != Decision::none, allowed) << "round " << round;
    if (!allowed) {
      ++waits;
      EXPECT_GT(decision.idle_until, time);
      EXPECT_LE(decision.idle_until, one.release);
    }
  }
  EXPECT_GT(waits, 300);
}

// What the analysis goes by.
TEST(IdleInsertion, the_latest_start_is_the_last_time_at_which_the_job_starts) {
  Random random{9};
  int waits = 0;
  for (int round = 0; round < 4000; ++round) {
    const PolicyPtr policy = round % 2 == 0 ? precautious_rm() : cw_edf();
    std::vector<Job> pending = random.jobs(1);
    pending.front().deadline = at(60ms);
    std::vector<Job> next = random.jobs(3);
    const TimePoint time = at(random.time(0, 20));
    nanoseconds work{0};
    for (Job& job : next) {
      job.release = time + random.time(1, 6);
      job.task += 4;
      work += job.expected_execution;
    }
    for (Job& job : next) {  // none is lost in any case
      job.deadline = time + 6ms + work + random.time(0, 4);
    }
    pending.front().expected_execution += 5ms;  // so that some are lost behind it
    const TimePoint latest = policy->latest_start(pending.front(), next);
    ASSERT_EQ(policy->decide(pending, next, time).job == 0U, time <= latest) << "round " << round;
    waits += time > latest ? 1 : 0;
  }
  EXPECT_GT(waits, 300);
  EXPECT_LT(waits, 3700);
}

TEST(PrecautiousRm, counts_all_tasks_that_share_the_highest_priority) {
  const PolicyPtr policy = precautious_rm();
  const Job low{.task = 2, .priority = 1, .deadline = at(60ms), .expected_execution = 7ms};
  const auto high = [](TaskIndex task) {
    return Job{.task = task,
               .priority = 98,
               .release = at(2ms),
               .deadline = at(12ms),
               .expected_execution = 3ms};
  };
  const std::vector<Job> one{high(0)};
  const std::vector<Job> two{high(0), high(1)};
  EXPECT_EQ(policy->decide({&low, 1}, one, at(0ms)).job, 0U);              // 7 + 3 <= 12
  EXPECT_EQ(policy->decide({&low, 1}, two, at(0ms)).job, Decision::none);  // 7 + 3 + 3 > 12
  EXPECT_EQ(policy->decide({&low, 1}, two, at(0ms)).idle_until, at(2ms));
}

// Both halves of the rule, until the first of the releases: asked again meanwhile, the policy says
// the same.
TEST(IdleInsertion, waits_for_no_deadlines_that_are_lost_in_any_case) {
  for (const PolicyPtr& policy : {precautious_rm(), cw_edf()}) {
    const Job low{.task = 2, .priority = 1, .deadline = at(60ms), .expected_execution = 1ms};
    const auto high = [](TaskIndex task, nanoseconds deadline) {
      return Job{.task = task,
                 .priority = 98,
                 .release = at(8ms),
                 .deadline = at(deadline),
                 .expected_execution = 3ms};
    };
    const std::vector<Job> lost{high(0, 13ms), high(1, 13ms)};
    const std::vector<Job> kept{high(0, 14ms), high(1, 14ms)};
    for (nanoseconds time = 6ms; time < 8ms; time += 500us) {
      EXPECT_EQ(policy->decide({&low, 1}, lost, at(time)).job, 0U) << time.count();
      EXPECT_EQ(policy->decide({&low, 1}, kept, at(time)).job == 0U, time <= 7ms) << time.count();
    }
  }
}

}  // namespace
}  // namespace takt::sim
