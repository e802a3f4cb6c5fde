// SPDX-License-Identifier: Apache-2.0
//
// Tasks that come and go while the executor starts, runs and stops: whatever the order of these
// events, nothing runs that was removed, and nothing is left of what was refused.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "../os/sanitizer.hpp"
#include "../policies.hpp"
#include "little_memory.hpp"
#include "support.hpp"
#include "takt/sched/error.hpp"

namespace takt::test {
namespace {

using sched::Overrun;
using sched::SchedulingScenario;
using sched::SchedulingStrategy;

class Life : public UnderPolicy {};

INSTANTIATE_TEST_SUITE_P(Policies, Life, ::testing::Values("fp", "edf", "np-edf"), policy_name);

// Part of a callback: tells when the callback is destroyed.
class Token {
 public:
  explicit Token(std::atomic<bool>& destroyed)
      : token_(&destroyed, [](std::atomic<bool>* set) { *set = true; }) {}

 private:
  std::shared_ptr<std::atomic<bool>> token_;
};

TEST_P(Life, ACallbackThatRunsIsNotDestroyedByARemovalAfterTheStop) {
  struct {
    std::atomic<bool> started{false};
    std::atomic<bool> destroyed{false};
    std::atomic<bool> destroyed_while_it_ran{false};
  } seen;
  Executor executor{options()};
  executor.add(timer("task", 1s, 30), {[&seen, token = Token{seen.destroyed}](const auto&) {
                 auto& outside = seen;  // what was captured may be gone below
                 outside.started = true;
                 // Long enough for a removal that does not wait; one that does costs as much.
                 for (int i = 0; i < 200 && !outside.destroyed; ++i) {
                   os::sleep_until(os::now() + 1ms);
                 }
                 outside.destroyed_while_it_ran = outside.destroyed.load();
               }});
  executor.start();
  ASSERT_TRUE(eventually([&] { return seen.started.load(); }));
  executor.request_stop();
  expect_to_return("remove()", [&] { executor.remove("task").wait(); });
  EXPECT_TRUE(seen.destroyed);
  executor.stop();
  EXPECT_FALSE(seen.destroyed_while_it_ran);
}

// The thread that stops it may come late.
TEST_P(Life, NothingIsReleasedOnceItsDurationIsOver) {
  constexpr auto duration = 20ms;
  std::atomic<int> jobs{0};
  std::atomic<int> late{0};
  Options limited = options();
  limited.duration = duration;
  Executor executor{limited};
  executor.add(timer("task", 5ms, 30), {[&](const sched::Job& job) {
                 ++jobs;
                 late += job.release >= executor.start_time() + duration ? 1 : 0;
               }});
  executor.start();
  os::sleep_until(executor.start_time() + 2 * duration);
  executor.stop();
  expect_to_return("spin()", [&] { executor.spin(); });
  EXPECT_EQ(late, 0);
  EXPECT_LE(jobs, 2 * 4);
}

// Its first job lasts until the second release, and switches it off then. What runs below it has
// to wait for a second job, if there is one.
TEST_P(Life, ATaskThatRemembersAReleaseRunsNoMoreOnceItIsInactive) {
  std::atomic<int> runs{0};
  Executor executor{options()};
  sched::Task task = timer("task", 2ms, 40);
  task.parameters.overrun = Overrun::queue_one;
  const auto added = executor.add(task, {[&](const sched::Job& job) {
                                    ++runs;
                                    burn(job.release + 5ms - os::now());
                                    executor.switch_to("without");
                                  }});
  const auto witness = executor.add(timer("witness", 10ms, 10, 1s), {[](const auto&) {}});
  executor.set_scheduling_strategy(
      SchedulingStrategy{}
          .add_scenario(SchedulingScenario{"with"})
          .add_scenario(SchedulingScenario{"without"}.add_task({.task = "task", .active = false})));
  executor.start();
  EXPECT_TRUE(eventually([&] { return executor.statistics(witness.index).completed >= 3; }));
  executor.stop();
  EXPECT_EQ(runs, 1);
  const auto statistics = executor.statistics(added.index);
  EXPECT_EQ(statistics.releases, statistics.completed + statistics.skipped);
}

TEST_P(Life, AMessageThatIsRememberedIsForgottenOnceItsTaskIsInactive) {
  std::atomic<int> runs{0};
  executor::ReleaseHandle release;
  Executor executor{options()};
  sched::Task task = message("task", "outside", 40, 5ms);
  task.parameters.overrun = Overrun::queue_one;
  const auto added = executor.add(task, {[&](const auto&) {
                                    ++runs;
                                    EXPECT_TRUE(release.notify());
                                    burn(10us);
                                    executor.switch_to("without");
                                  }});
  release = added.release;
  const auto witness = executor.add(timer("witness", 10ms, 10, 1s), {[](const auto&) {}});
  executor.set_scheduling_strategy(
      SchedulingStrategy{}
          .add_scenario(SchedulingScenario{"with"})
          .add_scenario(SchedulingScenario{"without"}.add_task({.task = "task", .active = false})));
  executor.start();
  EXPECT_TRUE(release.notify());
  EXPECT_TRUE(eventually([&] { return runs > 0; }));
  const auto before = executor.statistics(witness.index).completed;
  EXPECT_TRUE(
      eventually([&] { return executor.statistics(witness.index).completed > before + 3; }));
  executor.stop();
  EXPECT_EQ(runs, 1);
  const auto statistics = executor.statistics(added.index);
  EXPECT_EQ(statistics.releases, statistics.completed + statistics.skipped);
}

TEST_P(Life, NothingRunsAfterItsRemovalWhateverItsOverrunPolicyRemembers) {
  Executor executor{options()};
  executor.start();
  for (int round = 0; round < 30; ++round) {
    struct {
      std::atomic<int> runs{0};
      std::atomic<bool> destroyed{false};
      std::atomic<bool> destroyed_while_it_ran{false};
    } seen;
    sched::Task task = timer("task", 1ms, 40);
    task.parameters.overrun = round % 2 == 0 ? Overrun::queue_one : Overrun::catch_up;
    executor.add(task, {[&seen, token = Token{seen.destroyed}](const auto&) {
                   auto& outside = seen;  // what was captured may be gone below
                   ++outside.runs;
                   burn(2500us);
                   if (outside.destroyed) {
                     outside.destroyed_while_it_ran = true;
                   }
                 }});
    EXPECT_TRUE(eventually([&] { return seen.runs > 0; }));
    expect_to_return("remove()", [&] { executor.remove("task").wait(); });
    EXPECT_TRUE(seen.destroyed);
    const int runs = seen.runs;
    // A job that comes after all has ended when the next task has run.
    os::Event ran;
    executor.add(timer("next", 1ms, 10, 1s), {[&](const auto&) { ran.notify(); }});
    EXPECT_TRUE(ran.wait_until(os::now() + patience));
    executor.remove("next").wait();
    EXPECT_EQ(seen.runs, runs);
    ASSERT_FALSE(seen.destroyed_while_it_ran);
  }
  executor.stop();
}

TEST_P(Life, ATimerOfTheLongestPeriodRunsOnce) {
  Executor executor{options()};
  const auto rare = executor.add(timer("rare", sched::longest_time, 40), {[](const auto&) {}});
  executor.add(timer("never", sched::longest_time, 40, 0ns, sched::longest_time),
               {[](const auto&) { ADD_FAILURE() << "a hundred years too early"; }});
  const auto witness = executor.add(timer("witness", 1ms, 10), {[](const auto&) {}});
  executor.start();
  EXPECT_TRUE(eventually([&] { return executor.statistics(witness.index).completed >= 10; }));
  executor.stop();
  EXPECT_EQ(executor.statistics(rare.index).completed, 1U);
  EXPECT_EQ(executor.statistics(rare.index).releases, 1U);
}

TEST_P(Life, ACoreWithoutTasksKeepsNobodyFromAddingAndRemoving) {
  const std::vector<int> cpus = os::current_thread().cpus;
  if (cpus.size() < 2) {
    GTEST_SKIP() << "needs two cores";
  }
  Options with_two_cores = options();
  with_two_cores.cpus = {cpus[0], cpus[1]};
  Executor executor{with_two_cores};
  executor.start();
  std::atomic<int> runs{0};
  sched::Task task = timer("task", 1ms, 40);
  task.cpu = cpus[1];
  expect_to_return("add()", [&] { executor.add(task, {[&](const auto&) { ++runs; }}); });
  EXPECT_TRUE(eventually([&] { return runs > 0; }));
  expect_to_return("remove()", [&] { executor.remove("task").wait(); });
  executor.stop();
}

TEST_P(Life, NothingIsLeftOfATaskForWhichThereIsNoThread) {
  if (os::test::sanitized) {
    GTEST_SKIP() << "sanitizers need memory of their own for each thread";
  }
  if (GetParam() == "np-edf") {
    GTEST_SKIP() << "one thread is enough for this policy";
  }
  Options with_large_stacks = options();
  with_large_stacks.lock_memory = false;
  with_large_stacks.stack = std::size_t{64} * 1024 * 1024;
  Executor executor{with_large_stacks};
  executor.add(timer("first", 1ms, 10, 1s), {[](const auto&) {}});
  executor.start();
  std::atomic<bool> destroyed{false};
  std::atomic<int> runs{0};
  const auto add = [&] {
    return executor.add(timer("second", 1ms, 40),
                        {[&runs, token = Token{destroyed}](const auto&) { ++runs; }});
  };
  {
    const LittleMemory little;
    EXPECT_THROW(add(), std::system_error);
  }
  EXPECT_TRUE(destroyed);
  EXPECT_EQ(executor.task_count(), 1U);
  EXPECT_FALSE(executor.find("second"));
  EXPECT_THROW(executor.remove("second"), sched::ScheduleError);
  EXPECT_EQ(add().index, 1U);
  EXPECT_TRUE(eventually([&] { return runs > 0; }));
  executor.stop();
}

// Bounded although nobody but the tasks that come and go could wake a thread that has overlooked
// one of them: no timer, and messages only from here.
TEST_P(Life, AddAndRemoveReturnWhileMessagesCome) {
  Executor executor{options()};
  const auto steady = executor.add(message("steady", "outside", 40), {[](const auto&) {}});
  executor.start();
  std::atomic<bool> done{false};
  std::thread publisher{[&] {
    while (!done) {
      steady.release.notify();
      std::this_thread::yield();
    }
  }};
  for (int round = 0; round < 100; ++round) {
    const std::string name = "guest" + std::to_string(round);
    expect_to_return("add()", [&] {
      executor.add(message(name, "outside", 10 + round % 50), {[](const auto&) {}});
    });
    expect_to_return("remove()", [&] { executor.remove(name).wait(); });
  }
  done = true;
  publisher.join();
  executor.stop();
}

}  // namespace
}  // namespace takt::test
