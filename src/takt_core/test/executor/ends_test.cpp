// SPDX-License-Identifier: Apache-2.0
//
// What is told of a job agrees with its recorded end, wherever its thread loses the core on the way
// from there to the crew. This program returns late from its own clock_gettime() for that, which is
// why it is one of its own. Nothing is judged by how long anything took: the trace says when each
// job ended, and which deadline it had.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <mutex>
#include <random>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

// Of the calling thread: it goes on that much later after it has read the clock next.
thread_local std::chrono::nanoseconds after_reading{0};

}  // namespace
}  // namespace takt::test

extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  using Function = int (*)(clockid_t, timespec*);
  static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = real(clock, time);
  if (clock == CLOCK_MONOTONIC) {
    if (const auto late = std::exchange(takt::test::after_reading, {}); late.count() > 0) {
      takt::os::sleep_until(takt::os::now() + late);
    }
  }
  return result;
}

namespace takt::test {
namespace {

using Key = std::pair<sched::TaskIndex, std::uint64_t>;

// What handlers heard, by job.
class Heard {
 public:
  executor::Handlers handlers() {
    return {.deadline_miss =
                [this](const executor::Miss& miss) {
                  const std::lock_guard lock{mutex_};
                  misses_[{miss.task, miss.job}].push_back(miss);
                },
            .budget_overrun =
                [this](const executor::BudgetOverrun& overrun) {
                  const std::lock_guard lock{mutex_};
                  overruns_[{overrun.task, overrun.job}].push_back(overrun);
                }};
  }
  [[nodiscard]] std::map<Key, std::vector<executor::Miss>> misses() {
    const std::lock_guard lock{mutex_};
    return misses_;
  }
  [[nodiscard]] std::map<Key, std::vector<executor::BudgetOverrun>> overruns() {
    const std::lock_guard lock{mutex_};
    return overruns_;
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::vector<executor::Miss>> misses_;
  std::map<Key, std::vector<executor::BudgetOverrun>> overruns_;
};

// The executor has stopped: every job is over. Each that ended late was told once, no other one.
void expect_reported_as_recorded(Heard& heard, const trace::Trace& trace,
                                 const Executor& executor) {
  const auto reported = heard.misses();
  std::map<sched::TaskIndex, std::uint64_t> late;
  for (const auto& [key, traced] : jobs_of(trace)) {
    if (!traced.end) {
      continue;
    }
    const Key job{key.first, key.second};
    const std::int64_t deadline = traced.job.deadline.time_since_epoch().count();
    const auto found = reported.find(job);
    if (*traced.end <= deadline) {
      ASSERT_EQ(found, reported.end())
          << "job " << key.second << " ended " << deadline - *traced.end
          << " ns before its deadline and was told as missed";
      continue;
    }
    ++late[key.first];
    ASSERT_NE(found, reported.end()) << "job " << key.second << " ended late, and nobody was told";
    ASSERT_EQ(found->second.size(), 1U) << "job " << key.second << " was told again";
    const executor::Miss& miss = found->second.front();
    EXPECT_GT(miss.ended, miss.deadline);
    EXPECT_LE(miss.ended.time_since_epoch().count(), *traced.end);
    EXPECT_EQ(miss.deadline.time_since_epoch().count(), deadline);
  }
  for (const auto& [task, count] : late) {
    EXPECT_EQ(executor.statistics(task).deadline_misses, count);
  }
}

class Ends : public ::testing::TestWithParam<const char*> {
 protected:
  Options options() {
    return {.policy = sched::parse_policy(GetParam()),
            .cpus = {os::current_thread().cpus.front()},
            .lock_memory = false,
            .trace = file_.path(),
            .handlers = heard_.handlers(),
            .on_not_granted = [](const auto&) {}};
  }
  void expect_reported_as_recorded(const Executor& executor) {
    test::expect_reported_as_recorded(heard_, trace::read_trace(file_.path()), executor);
  }

  TemporaryFile file_;
  Heard heard_;
};

INSTANTIATE_TEST_SUITE_P(Policies, Ends, ::testing::Values("fp", "edf", "np-fp"),
                         [](const auto& policy) {
                           std::string name = policy.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(Ends, AJobThatEndedInTimeIsNoMissWhereItsThreadLosesTheCoreRightAfterwards) {
  Executor executor{options()};
  executor.add(timer("in_time", 40ms, 10, 15ms),
               {.callback = [](const auto&) { after_reading = 20ms; }});
  run_until_each_completed(executor, 5);
  expect_reported_as_recorded(executor);
}

TEST_P(Ends, AJobThatEndedInTimeIsNoMissWhileTheHandlerOfItsSkipsRuns) {
  Options with_skips = options();
  with_skips.handlers.skip = [](const auto&) { os::sleep_until(os::now() + 40ms); };
  Executor executor{with_skips};
  executor.add(timer("skips", 5ms, 10, 30ms),
               {.callback = [](const auto&) { os::sleep_until(os::now() + 12ms); }});
  run_until_each_completed(executor, 5);
  expect_reported_as_recorded(executor);
}

// Told by another thread, which loses the core before it has told: the job ends meanwhile, and so
// does the next one, which is late, too.
TEST_P(Ends, EachLateJobIsReportedOnceIfTheReportingThreadLosesTheCore) {
  Options slow = options();
  const auto report = slow.handlers.deadline_miss;
  slow.handlers.deadline_miss = [&](const executor::Miss& miss) {
    os::sleep_until(os::now() + 5ms);
    report(miss);
  };
  Executor executor{slow};
  executor.add(timer("late", 4ms, 10, 1ms),
               {.callback = [](const auto&) { os::sleep_until(os::now() + 3ms); }});
  run_until_each_completed(executor, 30);
  expect_reported_as_recorded(executor);
}

// The end comes as near to the deadline as it gets.
TEST_P(Ends, JobsThatEndAtTheirDeadlinesAreReportedAsTheyAreRecorded) {
  std::mt19937_64 random{1};
  std::uniform_int_distribution<int> around{-40'000, 40'000};
  Executor executor{options()};
  executor.add(timer("close", 2ms, 10, 1ms), {.callback = [&](const sched::Job& job) {
                 const auto end = job.deadline + std::chrono::nanoseconds{around(random)};
                 while (os::now() < end) {
                 }
                 after_reading = random() % 4 == 0 ? 100us : 0us;
               }});
  run_until_each_completed(executor, 400);
  expect_reported_as_recorded(executor);
}

// Of each overrun the job itself used more, and each is told once.
TEST_P(Ends, BudgetsAreReportedAsTheJobsUsedThem) {
  Executor executor{options()};
  sched::Task task = timer("close", 4ms, 10);
  task.parameters.budget = 1ms;
  const auto added = executor.add(task, {.callback = [&](const sched::Job& job) {
                                    burn(950us + job.index % 100 * 1us);
                                    after_reading = 2ms;
                                  }});
  run_until_each_completed(executor, 150);
  const auto statistics = executor.statistics(added.index);
  const auto reported = heard_.overruns();
  EXPECT_EQ(statistics.budget_overruns, reported.size());
  EXPECT_EQ(!reported.empty(), statistics.worst_cpu_time > 1ms);
  std::map<std::uint64_t, std::int64_t> used;  // by the job's own thread, at its end
  for (const trace::Event& event : trace::read_trace(file_.path()).events) {
    if (event.type == trace::EventType::end) {
      used[event.job] = event.value;
    }
  }
  for (const auto& [key, overruns] : reported) {
    ASSERT_EQ(overruns.size(), 1U) << "job " << key.second << " was told again";
    EXPECT_GT(overruns.front().used, overruns.front().budget);
    EXPECT_LE(overruns.front().used.count(), used.at(key.second));
  }
  for (const auto& [job, cpu_time] : used) {
    EXPECT_EQ(cpu_time > 1'000'000, reported.contains({added.index, job})) << "job " << job;
  }
}

}  // namespace
}  // namespace takt::test
