// SPDX-License-Identifier: Apache-2.0
//
// Jobs that take locks of the executor: who starts meanwhile, and who is woken at the end.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support.hpp"
#include "takt/executor/lock.hpp"
#include "takt/executor/mutex.hpp"
#include "takt/os/thread.hpp"

namespace takt::test {
namespace {

using executor::CeilingMutex;
using executor::SpinMutex;

constexpr auto once = 1000s;  // a period in which the test ends: no thread is up by chance

class Locks : public UnderPolicy {};

INSTANTIATE_TEST_SUITE_P(Under, Locks, ::testing::Values("fp", "edf"),
                         [](const auto& policy) { return policy.param; });

sched::Task taking(sched::Task task, std::vector<std::string> locks) {
  task.locks = std::move(locks);
  return task;
}

TEST_P(Locks, NobodyUpToTheCeilingStartsDuringASection) {
  CeilingMutex mutex{"m"};
  std::atomic<bool> high_started{false};
  std::atomic<bool> urgent_started{false};
  std::atomic<bool> ended{false};
  Executor executor{options()};
  const auto high =
      executor.add(taking(message("high", "outside", 50, 50ms), {"m"}), {[&](const auto&) {
                     high_started = true;
                     const std::lock_guard guard{mutex};
                   }});
  const auto urgent = executor.add(message("urgent", "outside", 60, 20ms),
                                   {[&](const auto&) { urgent_started = true; }});
  executor.add(taking(timer("low", once, 10), {"m"}), {[&](const auto&) {
                 {
                   const std::lock_guard guard{mutex};
                   high.release.notify();
                   urgent.release.notify();
                   EXPECT_TRUE(eventually([&] { return urgent_started.load(); }))
                       << "it is above the ceiling";
                   os::sleep_until(os::now() + 5ms);
                   EXPECT_FALSE(high_started);
                 }
                 EXPECT_TRUE(eventually([&] { return high_started.load(); }))
                     << "nobody was woken when the section ended";
                 ended = true;
               }});
  executor.start();
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
  executor.stop();
}

// A timer's release, too, which no thread is up for while the ceiling keeps it away.
TEST_P(Locks, ATimerStartsWhenTheSectionEnds) {
  CeilingMutex mutex{"m"};
  std::atomic<bool> high_started{false};
  std::atomic<bool> ended{false};
  Executor executor{options()};
  executor.add(taking(timer("high", once, 50, 50ms, 30ms), {"m"}),
               {[&](const auto&) { high_started = true; }});
  executor.add(taking(timer("low", once, 10), {"m"}), {[&](const sched::Job& job) {
                 {
                   const std::lock_guard guard{mutex};
                   const bool before = high_started;  // where this thread came late to its core
                   os::sleep_until(job.release + 60ms);
                   EXPECT_EQ(high_started, before);
                 }
                 EXPECT_TRUE(eventually([&] { return high_started.load(); }));
                 ended = true;
               }});
  executor.start();
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
  executor.stop();
}

TEST_P(Locks, AnInnerSectionGivesBackTheOuterCeiling) {
  CeilingMutex outer{"outer"};
  CeilingMutex inner{"inner"};
  std::atomic<bool> started{false};
  std::atomic<bool> ended{false};
  Executor executor{options()};
  const auto high = executor.add(taking(message("high", "outside", 50, 50ms), {"outer"}),
                                 {[&](const auto&) { started = true; }});
  executor.add(taking(message("middle", "outside", 30, 100ms), {"inner"}), {[](const auto&) {}});
  executor.add(taking(timer("low", once, 10), {"outer", "inner"}), {[&](const auto&) {
                 {
                   const std::lock_guard guard{outer};
                   { const std::lock_guard another{inner}; }
                   high.release.notify();
                   os::sleep_until(os::now() + 5ms);
                   EXPECT_FALSE(started);
                 }
                 EXPECT_TRUE(eventually([&] { return started.load(); }));
                 ended = true;
               }});
  executor.start();
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
  executor.stop();
}

TEST_P(Locks, OfAMutexThatNoTaskNamesTheHolderKeepsItsCore) {
  CeilingMutex mutex{"m"};
  std::atomic<bool> started{false};
  std::atomic<bool> ended{false};
  Executor executor{options()};
  const auto high =
      executor.add(message("high", "outside", 50, 50ms), {[&](const auto&) { started = true; }});
  executor.add(timer("low", once, 10), {[&](const auto&) {
                 {
                   const std::lock_guard guard{mutex};
                   high.release.notify();
                   os::sleep_until(os::now() + 5ms);
                   EXPECT_FALSE(started);
                 }
                 EXPECT_TRUE(eventually([&] { return started.load(); }));
                 ended = true;
               }});
  executor.start();
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
  executor.stop();
}

// Random sections of four tasks on one core, the first one the most urgent.
struct Sections {
  std::array<CeilingMutex, 2> mutexes{CeilingMutex{"m0"}, CeilingMutex{"m1"}};
  std::array<int, 2> first_taker{0, 1};  // the most urgent task that takes it
  std::array<std::atomic<bool>, 2> held{};
  std::array<std::uint64_t, 2> counts{};  // guarded by the mutexes
  std::atomic<int> early{0};              // starts that a ceiling forbids
  std::atomic<std::uint64_t> taken{0};

  void run(int task, std::uint64_t job) {
    for (std::size_t m = 0; m < mutexes.size(); ++m) {
      early += held.at(m) && task >= first_taker.at(m) ? 1 : 0;
    }
    hold(task, task == 0 ? 0 : job % 2, job % 3 == 0);
  }

 private:
  void hold(int task, std::size_t first, bool both) {
    const std::lock_guard guard{mutexes.at(first)};
    EXPECT_FALSE(held.at(first).exchange(true));
    ++counts.at(first);
    ++taken;
    burn(100us);
    if (both && first == 0 && task > 0) {
      hold(task, 1, false);
    }
    held.at(first) = false;
  }
};

TEST_P(Locks, SectionsExcludeEachOther) {
  Sections sections;
  Executor executor{options()};
  for (int task = 0; task < 4; ++task) {
    executor.add(
        taking(timer("task" + std::to_string(task), (2 + task) * 1ms, 50 - task, (2 + task) * 1ms),
               task == 0 ? std::vector<std::string>{"m0"} : std::vector<std::string>{"m0", "m1"}),
        {[&, task](const sched::Job& job) { sections.run(task, job.index); }});
  }
  run_until_each_completed(executor, 50);
  EXPECT_EQ(sections.counts[0] + sections.counts[1], sections.taken);
  if (!no_real_time()) {
    EXPECT_EQ(sections.early, 0);
  }
}

TEST(Spin, RequestsAreServedInTheirOrder) {
  SpinMutex lock;
  const auto first = lock.request();
  const auto second = lock.request();
  EXPECT_TRUE(lock.is_turn_of(first));
  EXPECT_FALSE(lock.is_turn_of(second));
  lock.wait(first);
  lock.unlock();
  EXPECT_TRUE(lock.is_turn_of(second));
  lock.wait(second);
  lock.unlock();
  const std::lock_guard guard{lock};
}

// Somebody elsewhere holds the lock: the job that waits for it keeps its core, and while it holds
// it.
TEST_P(Locks, AJobKeepsItsCoreFromItsRequestOn) {
  SpinMutex lock;
  std::atomic<bool> waits{false};
  std::atomic<bool> started{false};
  std::atomic<bool> ended{false};
  Executor executor{options()};
  const auto urgent =
      executor.add(message("urgent", "outside", 60, 20ms), {[&](const auto&) { started = true; }});
  executor.add(timer("low", once, 10), {[&](const auto&) {
                 const SpinMutex::Request request = lock.request();
                 waits = true;
                 lock.wait(request);
                 os::sleep_until(os::now() + 5ms);
                 EXPECT_FALSE(started);
                 lock.unlock();
                 EXPECT_TRUE(eventually([&] { return started.load(); }));
                 ended = true;
               }});
  lock.lock();
  executor.start();
  EXPECT_TRUE(eventually([&] { return waits.load(); }));
  urgent.release.notify();
  os::sleep_until(os::now() + 5ms);
  EXPECT_FALSE(started);
  lock.unlock();
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
  executor.stop();
}

TEST_P(Locks, SpinLocksExcludeTheJobsOfSeveralCores) {
  const std::vector<int> cpus = os::current_thread().cpus;
  if (cpus.size() < 2) {
    GTEST_SKIP() << "it needs a second core";
  }
  SpinMutex lock;
  std::uint64_t count = 0;  // guarded by it
  std::atomic<std::uint64_t> taken{0};
  Options two_cores = options();
  two_cores.cpus = {cpus[0], cpus[1]};
  Executor executor{two_cores};
  for (int task = 0; task < 4; ++task) {
    sched::Task one =
        timer("task" + std::to_string(task), (1 + task) * 1ms, 50 - task, (1 + task) * 1ms);
    one.cpu = cpus.at(static_cast<std::size_t>(task) % 2);
    executor.add(one, {[&](const auto&) {
                   for (int i = 0; i < 5; ++i) {
                     const std::lock_guard guard{lock};
                     ++count;
                     burn(20us);
                   }
                   taken += 5;
                 }});
  }
  run_until_each_completed(executor, 50);
  EXPECT_EQ(count, taken);
}

class Mutex : public ::testing::Test {
 protected:
  // As the kernel schedules the calling thread: its own priority, or one that it has inherited.
  static int priority() {
    std::ifstream file{"/proc/thread-self/stat"};
    std::string word;
    for (int skipped = 0; skipped < 17; ++skipped) {
      file >> word;
    }
    int read = 0;
    file >> read;
    return read;
  }
  static bool is_free_for_others(auto& mutex) {
    bool is_free = false;
    os::Thread{{},
               [&] {
                 is_free = mutex.try_lock();
                 if (is_free) mutex.unlock();
               }}
        .join();
    return is_free;
  }
};

TEST_F(Mutex, ItsHolderInheritsThePriorityOfItsWaiter) {
  executor::PriorityMutex mutex;
  mutex.lock();
  const int own = priority();
  os::Thread waits{{.policy = os::SchedulingPolicy::fifo, .priority = 10},
                   [&] { const std::lock_guard lock{mutex}; }};
  if (!waits.not_granted().empty()) {
    mutex.unlock();
    GTEST_SKIP() << "no real-time priorities here";
  }
  constexpr int inherited = -11;  // proc(5): minus one, minus the real-time priority
  const auto latest = os::now() + 60s;
  while (priority() != inherited && os::now() < latest) {
    os::sleep_until(os::now() + 1ms);
  }
  EXPECT_EQ(priority(), inherited);
  mutex.unlock();
  EXPECT_EQ(priority(), own);
}

TEST_F(Mutex, OneThreadAtATimeHasIt) {
  constexpr int times = 20'000;
  constexpr int threads = 3;
  executor::PriorityMutex mutex;
  std::int64_t counted = 0;
  std::vector<std::unique_ptr<os::Thread>> all;
  for (int thread = 0; thread < threads; ++thread) {
    all.push_back(std::make_unique<os::Thread>(os::ThreadSettings{}, [&] {
      for (int i = 0; i < times; ++i) {
        const std::lock_guard lock{mutex};
        const std::int64_t before = counted;
        if (i % 500 == 0) std::this_thread::yield();  // others come to wait
        counted = before + 1;
      }
    }));
  }
  for (const auto& thread : all) {
    thread->join();
  }
  EXPECT_EQ(counted, threads * times);
}

TEST_F(Mutex, ARecursiveOneIsFreeAfterAsManyUnlocks) {
  executor::RecursivePriorityMutex mutex;
  mutex.lock();
  ASSERT_TRUE(mutex.try_lock());
  EXPECT_FALSE(is_free_for_others(mutex));
  mutex.unlock();
  EXPECT_FALSE(is_free_for_others(mutex));
  mutex.unlock();
  EXPECT_TRUE(is_free_for_others(mutex));
}

}  // namespace
}  // namespace takt::test
