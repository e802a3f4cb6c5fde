// SPDX-License-Identifier: Apache-2.0
//
// The order in which jobs run, for each policy and both kinds of threads.
#include <gtest/gtest.h>

#include <atomic>
#include <ostream>
#include <string>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

struct PolicyCase {
  std::string name;
  bool real_time;

  friend void PrintTo(const PolicyCase& value, std::ostream* out) { *out << value.name; }
};

std::string name_of(const ::testing::TestParamInfo<PolicyCase>& info) {
  std::string name = info.param.name + (info.param.real_time ? "_fifo" : "_other");
  std::ranges::replace(name, '-', '_');
  return name;
}

sched::PolicyPtr policy_of(const std::string& name) {
  if (name == "longest-deadline") {
    return sched::custom(name, [](const sched::Job& a, const sched::Job& b) {
      return a.deadline - a.release > b.deadline - b.release;
    });
  }
  return sched::parse_policy(name);
}

constexpr auto released_after = 5ms;  // than the gate

class Order : public ::testing::TestWithParam<PolicyCase> {
 protected:
  void SetUp() override {
    if (const auto reason = no_real_time(); GetParam().real_time && reason) {
      GTEST_SKIP() << "needs real-time priorities: " << *reason;
    }
  }
};

// A gate keeps the core busy while all others are released, so that they pend together when it
// ends.
trace::Trace of_a_gate_and_others(const PolicyCase& one, bool longest_first) {
  const TemporaryFile file;
  const auto policy = policy_of(one.name);
  Executor executor{{.policy = policy,
                     .cpus = {0},
                     .real_time = one.real_time,
                     .trace = file.path(),
                     .on_not_granted = [](const auto&) {}}};
  const auto add = [&](sched::Task task, Binding binding) {
    task.parameters.expected_execution = 1ms;
    executor.add(std::move(task), std::move(binding));
  };
  add(timer("gate", 900ms, 90, longest_first ? 900ms : 20ms),
      {[](const sched::Job& job) { burn(job.release + 15ms - os::now()); }});
  for (const int i : {3, 0, 4, 1, 2}) {
    add(timer("task" + std::to_string(i), (500 + 10 * i) * 1ms, 50 - i, (100 + 10 * i) * 1ms,
              released_after),
        {[](const auto&) { burn(100us); }});
  }
  run_until_each_completed(executor, 1);
  return trace::read_trace(file.path());
}

bool gate_was_late(const trace::Trace& trace) {
  std::int64_t released = 0;
  for (const trace::Event& event : trace.events) {
    if (trace.tasks.at(event.task) != "gate") {
      continue;
    }
    if (event.type == trace::EventType::release) {
      released = event.time;
    } else if (event.type == trace::EventType::start) {
      return event.time - released >= std::chrono::nanoseconds{released_after}.count();
    }
  }
  return true;
}

TEST_P(Order, OfJobsThatPendTogetherIsThatOfThePolicy) {
  const bool longest_first = GetParam().name == "longest-deadline";
  // Shorter deadlines and periods go with higher priorities, so every policy but one agrees.
  std::vector<std::string> expected{"gate"};
  for (int i = 0; i < 5; ++i) {
    expected.push_back("task" + std::to_string(longest_first ? 4 - i : i));
  }
  std::vector<std::string> starts;
  for (int attempt = 0; attempt < 20; ++attempt) {
    const trace::Trace trace = of_a_gate_and_others(GetParam(), longest_first);
    EXPECT_EQ(trace.lost, 0U);
    starts = starts_of(trace);
    starts.resize(std::min(starts.size(), expected.size()));  // of the first jobs
    // Where the machine stood still, the others were there before the gate: once more.
    if (starts == expected || !gate_was_late(trace)) {
      break;
    }
  }
  EXPECT_EQ(starts, expected);
}

// Many random tasks; whatever happens, nobody runs over a better job, and no release is lost.
class Inversion : public Order {};

TEST_P(Inversion, NeverHappens) {
  const TemporaryFile file;
  const auto policy = policy_of(GetParam().name);
  Executor executor{{.policy = policy,
                     .cpus = {0},
                     .real_time = GetParam().real_time,
                     .trace = file.path(),
                     .on_not_granted = [](const auto&) {}}};
  std::vector<sched::Task> tasks;
  for (int i = 0; i < 12; ++i) {
    const auto period = (3 + 2 * i) * 1ms;
    sched::Task task = timer("task" + std::to_string(i), period, 60 - (i * 7) % 12, 0ns, i * 170us);
    task.parameters.expected_execution = 300us;
    tasks.push_back(task);
    executor.add(task, {[i](const auto&) { burn(i * 60us); }});
  }
  run_until_each_completed(executor, 15);
  const trace::Trace trace = trace::read_trace(file.path());
  EXPECT_EQ(trace.lost, 0U);
  EXPECT_EQ(trace::timeline(trace.events).not_nested(), 0U);
  if (policy->preemptive()) {
    expect_only_better_jobs_preempt(trace, *policy);
  } else {
    std::set<std::string> all;
    for (const sched::Task& task : tasks) {
      all.insert(task.name);
    }
    expect_exclusive(trace, all);
  }
  for (sched::TaskIndex i = 0; i < tasks.size(); ++i) {
    const auto statistics = executor.statistics(i);
    EXPECT_GE(statistics.completed, 15U) << tasks[i].name;
    EXPECT_LE(statistics.releases, statistics.completed + statistics.skipped + 1);
  }
}

constexpr bool fifo = true;
constexpr bool other = false;

INSTANTIATE_TEST_SUITE_P(Policies, Order,
                         ::testing::Values(PolicyCase{"fp", fifo}, PolicyCase{"fp", other},
                                           PolicyCase{"rm", fifo}, PolicyCase{"dm", fifo},
                                           PolicyCase{"edf", fifo}, PolicyCase{"edf", other},
                                           PolicyCase{"np-fp", fifo}, PolicyCase{"np-fp", other},
                                           PolicyCase{"np-edf", fifo}, PolicyCase{"np-edf", other},
                                           PolicyCase{"p-rm", fifo}, PolicyCase{"cw-edf", fifo},
                                           PolicyCase{"longest-deadline", fifo},
                                           PolicyCase{"longest-deadline", other}),
                         name_of);

// Without priorities the kernel runs the threads of a preemptive policy side by side.
INSTANTIATE_TEST_SUITE_P(Policies, Inversion,
                         ::testing::Values(PolicyCase{"fp", fifo}, PolicyCase{"rm", fifo},
                                           PolicyCase{"dm", fifo}, PolicyCase{"edf", fifo},
                                           PolicyCase{"np-fp", fifo}, PolicyCase{"np-fp", other},
                                           PolicyCase{"np-edf", fifo}, PolicyCase{"np-edf", other},
                                           PolicyCase{"p-rm", fifo}, PolicyCase{"cw-edf", fifo},
                                           PolicyCase{"longest-deadline", fifo}),
                         name_of);

class Preemption : public ::testing::TestWithParam<std::string> {};

// Burns the core until so many more have run over the caller; gives up after a minute.
void burn_until(const std::atomic<int>& runs, int more) {
  const int enough = runs + more;
  const auto give_up = os::now() + patience;
  while (runs < enough && os::now() < give_up) {
  }
}

TEST_P(Preemption, ReachesACallbackThatBurnsTheCore) {
  if (const auto reason = no_real_time()) {
    GTEST_SKIP() << "needs real-time priorities: " << *reason;
  }
  const TemporaryFile file;
  const auto policy = sched::parse_policy(GetParam());
  std::atomic<int> middle_runs{0};
  std::atomic<int> high_runs{0};
  Executor executor{{.policy = policy, .cpus = {0}, .trace = file.path()}};
  executor.add(timer("low", 60s, 10), {[&](const auto&) {
                 burn_until(middle_runs, 4);
                 burn_until(high_runs, 8);
               }});
  executor.add(timer("middle", 20ms, 20, 30s, 7ms), {[&](const auto&) {
                 burn_until(high_runs, 1);
                 ++middle_runs;
               }});
  executor.add(timer("high", 5ms, 30, 5ms, 1ms), {[&](const auto&) {
                 burn(100us);
                 ++high_runs;
               }});
  run_until_each_completed(executor, 1);
  const trace::Trace trace = trace::read_trace(file.path());
  expect_only_better_jobs_preempt(trace, *policy);
  EXPECT_EQ(trace::timeline(trace.events).not_nested(), 0U);
  EXPECT_GE(count_nested(trace, "middle", "low"), 4);
  EXPECT_GE(count_nested(trace, "high", "low"), 4 + 8);
  EXPECT_GE(count_nested(trace, "high", "middle"), 4);
  EXPECT_EQ(count_nested(trace, "low", "high"), 0);
}

INSTANTIATE_TEST_SUITE_P(Policies, Preemption, ::testing::Values("fp", "edf"));

// The gate keeps the core until both of the others pend; then the log waits for a release while it
// runs.
TEST(Deadlines, AtTheEndOfTimeAreThoseOfTasksThatHaveNone) {
  const TemporaryFile file;
  std::atomic<bool> preempted{false};
  executor::ReleaseHandle log;
  Executor executor{{.policy = sched::edf(),
                     .cpus = {0},
                     .external_topics = {"outside"},
                     .trace = file.path(),
                     .on_not_granted = [](const auto&) {}}};
  executor.add(timer("gate", 10s, 1, 20ms), {[&](const sched::Job& job) {
                 EXPECT_TRUE(log.notify());
                 burn(job.release + 5ms - os::now());
               }});
  executor.add(timer("late", 10s, 1, 0ns, 3ms), {[](const auto&) {}});
  log = executor
            .add(message("log", "outside", 90, 0ns), {[&](const sched::Job& job) {
                   EXPECT_EQ(job.deadline, os::TimePoint::max());
                   EXPECT_TRUE(eventually([&] { return preempted.load(); }));
                 }})
            .release;
  executor.add(timer("later", 10s, 1, 0ns, 50ms), {[&](const auto&) { preempted = true; }});
  run_until_each_completed(executor, 1);
  const std::vector<std::string> starts = starts_of(trace::read_trace(file.path()));
  ASSERT_EQ(starts.size(), 4U);
  EXPECT_EQ(starts[0], "gate");
  EXPECT_EQ(starts[1], "late");
}

// Threads serve all priorities, so each has to take the job's before the callback, whatever it ran
// before, what was preempted and what was released together.
TEST(FixedPriority, IsTheOneThatTheKernelKnowsForTheRunningJob) {
  if (const auto reason = no_real_time()) {
    GTEST_SKIP() << "needs real-time priorities: " << *reason;
  }
  constexpr int ceiling = 45;
  std::atomic<int> wrong{0};
  Executor executor{{.policy = sched::fixed_priority(), .cpus = {0}}};
  for (int i = 0; i < 10; ++i) {
    const int priority = 20 + 3 * i;
    sched::Task task = timer("task" + std::to_string(i), (5 + i % 3) * 1ms, priority);
    const bool in_group = i == 2 || i == 4;
    task.group = in_group ? "group" : "";
    const int expected = in_group ? ceiling : priority;
    if (i == 5) {
      task.parameters.priority = ceiling;  // gives the group its ceiling
      task.group = "group";
    }
    executor.add(task, {[&wrong, expected = i == 5 ? ceiling : expected](const auto&) {
                   sched_param parameters{};
                   sched_getparam(0, &parameters);
                   wrong += parameters.sched_priority == expected ? 0 : 1;
                   burn(200us);
                   sched_getparam(0, &parameters);
                   wrong += parameters.sched_priority == expected ? 0 : 1;
                 }});
  }
  run_until_each_completed(executor, 20);
  EXPECT_EQ(wrong, 0);
  for (sched::TaskIndex i = 0; i < 10; ++i) {
    EXPECT_GE(executor.statistics(i).completed, 20U);
  }
}

TEST(Cores, EachKeepItsOwnTasks) {
  if (os::current_thread().cpus.size() < 2) {
    GTEST_SKIP() << "needs two cores";
  }
  const TemporaryFile file;
  const std::vector<int> cpus = os::current_thread().cpus;
  Executor executor{{.policy = sched::edf(),
                     .cpus = {cpus[0], cpus[1]},
                     .trace = file.path(),
                     .on_not_granted = [](const auto&) {}}};
  for (int i = 0; i < 6; ++i) {
    sched::Task task = timer("task" + std::to_string(i), 5ms, 10 + i);
    task.cpu = cpus[i % 2];
    executor.add(task, {[](const auto&) { burn(200us); }});
  }
  run_until_each_completed(executor, 11);
  int starts = 0;
  for (const trace::Event& event : trace::read_trace(file.path()).events) {
    if (event.type == trace::EventType::start) {
      EXPECT_EQ(event.core, cpus[event.task % 2]);
      ++starts;
    }
  }
  EXPECT_GT(starts, 60);
}

}  // namespace
}  // namespace takt::test
