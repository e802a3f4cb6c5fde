// SPDX-License-Identifier: Apache-2.0
//
// Callbacks that wait: others run meanwhile, and they go on at their place.
#include <gtest/gtest.h>

#include <atomic>

#include "support.hpp"
#include "takt/sched/error.hpp"

namespace takt::test {
namespace {

Options options(const char* policy = "fp") {
  return {.policy = sched::parse_policy(policy),
          .cpus = {os::current_thread().cpus.front()},
          .on_not_granted = [](const auto&) {}};
}

// It waits until the lower one has run, which without a thread of its own would be never.
TEST(Waiting, LetsLowerTasksRunMeanwhile) {
  std::atomic<int> low_runs{0};
  std::atomic<int> served{0};
  Executor executor{options()};
  sched::Task high = timer("high", 5ms, 50);
  high.waits = true;
  executor.add(high, {[&](const auto&) {
                 const int before = low_runs;
                 served += eventually([&] { return low_runs > before; }) ? 1 : 0;
               }});
  executor.add(timer("low", 1ms, 10), {[&](const auto&) { ++low_runs; }});
  run_until_each_completed(executor, 5);
  EXPECT_GE(served, 5);
}

// What comes while the core is taken by a lower one runs over it when it goes on.
TEST(Waiting, GoesOnAtItsPlaceAboveLowerOnes) {
  if (const auto reason = no_real_time()) {
    GTEST_SKIP() << "needs real-time priorities: " << *reason;
  }
  const TemporaryFile file;
  Options settings = options();
  settings.trace = file.path();
  std::atomic<bool> low_runs{false};
  std::atomic<int> over_low{0};
  Executor executor{settings};
  sched::Task high = timer("high", 20ms, 50);
  high.waits = true;
  executor.add(high, {[&](const auto&) {
                 if (eventually([&] { return low_runs.load(); })) {
                   // The lower one still burns, on this core: it has been preempted.
                   over_low += low_runs ? 1 : 0;
                 }
               }});
  executor.add(timer("low", 20ms, 10), {[&](const auto&) {
                 low_runs = true;
                 const int before = over_low;
                 const auto give_up = os::now() + patience;
                 while (over_low == before && os::now() < give_up) {
                 }
                 low_runs = false;
               }});
  run_until_each_completed(executor, 3);
  EXPECT_GE(over_low, 3);
}

TEST(Waiting, TaskThatIsRemovedLeavesNoThreadBehind) {
  const auto threads = [] { return os::process_threads().size(); };
  Executor executor{options()};
  executor.add(timer("steady", 1ms, 10), {[](const auto&) {}});
  executor.start();
  const std::size_t before = threads();
  for (int i = 0; i < 5; ++i) {
    sched::Task task = timer("guest", 1ms, 50);
    task.waits = true;
    const auto added = executor.add(task, {[](const auto&) {}});
    EXPECT_TRUE(eventually([&] { return executor.statistics(added.index).completed > 1; }));
    EXPECT_EQ(threads(), before + 1);
    executor.remove("guest").wait();
    EXPECT_TRUE(eventually([&] { return threads() == before; }));
  }
  executor.stop();
}

// Once it has gone, other changes do not wait for it.
TEST(Waiting, TaskThatIsRemovedHoldsUpNoLaterChange) {
  Executor executor{options()};
  const auto come_and_go = [&](const char* name, bool waits) {
    sched::Task task = timer(name, 1ms, 10);
    task.waits = waits;
    executor.add(task, {[](const auto&) {}});
    const executor::Change gone = executor.remove(name);
    return eventually([&] { return gone.done(); });
  };
  sched::Task first = timer("first", 1ms, 50);
  first.waits = true;
  executor.add(first, {[](const auto&) {}});
  sched::Task stays = timer("stays", 1ms, 40);
  stays.waits = true;
  executor.add(stays, {[](const auto&) {}});
  executor.start();
  const executor::Change removed = executor.remove("first");
  ASSERT_TRUE(eventually([&] { return removed.done(); }));
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(come_and_go("guest", i % 2 == 0)) << i;
  }
  executor.stop();
}

// Its thread follows later changes, too, until it has gone: also while what it belonged to is
// destroyed.
TEST(Waiting, TaskThatIsRemovedMayGoWhileOthersChange) {
  Executor executor{options()};
  executor.add(timer("steady", 1ms, 10), {[](const auto&) {}});
  executor.start();
  constexpr int rounds = 200;
  for (int i = 0; i < rounds; ++i) {
    sched::Task task = timer("guest", 1s, 50);
    task.waits = true;
    executor.add(task, {[](const auto&) {}});
    const executor::Change gone = executor.remove("guest");
    while (!gone.done()) {
      executor.pause("steady");
      executor.resume("steady");
    }
  }
  executor.stop();
}

}  // namespace
}  // namespace takt::test
