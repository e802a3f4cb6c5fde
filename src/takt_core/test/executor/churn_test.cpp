// SPDX-License-Identifier: Apache-2.0
//
// Tasks that come and go without end leave nothing behind. An executable of its own: nothing else
// allocates meanwhile.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <string>
#include <utility>

#include "../os/sanitizer.hpp"
#include "support.hpp"
#include "takt/executor/changes.hpp"

namespace takt::test {
namespace {

// Bytes that are allocated; what the allocator keeps for later does not count.
double allocated() {
  const auto state = mallinfo2();
  return static_cast<double>(state.uordblks) + static_cast<double>(state.hblkhd);
}

TEST(Churn, OfTasksInGroupsOfTheirOwnLeavesTheMemoryAsItWas) {
  if (os::test::sanitized) {
    GTEST_SKIP() << "sanitizers have their own allocator";
  }
  Executor executor{{.policy = sched::parse_policy("fp"), .on_not_granted = [](const auto&) {}}};
  executor.start();
  int created = 0;
  const auto come_and_go = [&](int times) {
    for (int i = 0; i < times; ++i) {
      sched::Task task = timer("guest", 1s, 20);
      task.group =
          "a group that nobody had before, and nobody will have: " + std::to_string(++created);
      executor.add(task, {[](const auto&) {}});
      executor.remove("guest").wait();
    }
  };
  come_and_go(200);
  const double before = allocated();
  constexpr int rounds = 1000;
  come_and_go(rounds);
  EXPECT_LT(allocated() - before, 64.0 * rounds);  // the name alone is as long
  executor.stop();
}

// One that waits has a thread of its own, and all that belongs to it.
TEST(Churn, MakesThreadsForAsManyTasksThatWaitAsThereAreAtOnce) {
  if (os::test::sanitized) {
    GTEST_SKIP() << "sanitizers have their own allocator";
  }
  Executor executor{{.policy = sched::parse_policy("fp"), .on_not_granted = [](const auto&) {}}};
  executor.start();
  constexpr int places = 200;
  executor::Changes leave;
  for (int i = 0; i < places; ++i) {
    const std::string name = "guest " + std::to_string(i);
    executor.add(timer(name, 1s, 20), {[](const auto&) {}});
    leave.remove(name);
  }
  executor.apply(std::move(leave)).change.wait();
  const auto wait_and_go = [&](int times) {
    for (int i = 0; i < times; ++i) {
      sched::Task task = timer("waits", 1s, 20);
      task.waits = true;
      executor.add(task, {[](const auto&) {}});
      executor.remove("waits").wait();
      executor.add(timer("does not", 1s, 20), {[](const auto&) {}});
      executor.remove("does not").wait();
    }
  };
  wait_and_go(5);
  const double before = allocated();
  wait_and_go(places);
  EXPECT_LT(allocated() - before, 256.0 * places);
  executor.stop();
}

// A name stands for one group as long as anybody is in it, also where others have gone.
TEST(Churn, LeavesGroupsToThoseWhoStay) {
  Executor executor{{.policy = sched::parse_policy("fp"), .on_not_granted = [](const auto&) {}}};
  std::atomic<int> inside{0};
  std::atomic<int> jobs{0};
  std::atomic<bool> together{false};
  const auto alone = [&](const auto&) {
    if (++inside > 1) {
      together = true;
    }
    burn(200us);
    --inside;
    ++jobs;
  };
  const auto in_group = [](const std::string& name, int priority) {
    sched::Task task = timer(name, 1ms, priority);
    task.group = "both";
    return task;
  };
  executor.add(in_group("stays", 10), {alone});
  executor.start();
  for (int i = 0; i < 50; ++i) {
    executor.add(in_group("comes", 20 + i % 2), {alone});
    const int before = jobs;
    ASSERT_TRUE(eventually([&] { return jobs > before + 2; }));
    executor.remove("comes").wait();
  }
  executor.stop();
  EXPECT_FALSE(together);
}

}  // namespace
}  // namespace takt::test
