// SPDX-License-Identifier: Apache-2.0
//
// Mutexes in the order of requests, whose holders come before all others of their core.
#include "takt/executor/fifo_mutex.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "support.hpp"
#include "takt/executor/lock.hpp"
#include "takt/os/thread.hpp"

namespace takt::test {
namespace {

using executor::FifoMutex;
using executor::RequestOrder;

constexpr auto never_again = 1000s;

// As the kernel schedules the calling thread; 0: without a real-time priority.
int priority_now() {
  std::ifstream file{"/proc/thread-self/stat"};
  std::string word;
  for (int skipped = 0; skipped < 17; ++skipped) {
    file >> word;
  }
  int read = 0;
  file >> read;
  return read < 0 ? -read - 1 : 0;
}

Options fixed_priorities() {
  return {.policy = sched::parse_policy("fp"),
          .external_topics = {"outside"},
          .on_not_granted = [](const auto&) {}};
}

TEST(Fifo, threads_get_it_in_the_order_of_their_requests) {
  RequestOrder order;
  FifoMutex mutex{order};
  mutex.lock();
  std::atomic<int> asked{0};
  std::vector<int> got;
  std::vector<std::unique_ptr<os::Thread>> threads;
  for (int number = 0; number < 4; ++number) {
    threads.push_back(std::make_unique<os::Thread>(os::ThreadSettings{}, [&, number] {
      EXPECT_FALSE(mutex.request());
      ++asked;
      FifoMutex::wait();
      got.push_back(number);
      mutex.unlock();
    }));
    ASSERT_TRUE(eventually([&] { return asked == number + 1; }));
  }
  mutex.unlock();
  for (const auto& thread : threads) {
    thread->join();
  }
  EXPECT_EQ(got, (std::vector{0, 1, 2, 3}));
}

TEST(Fifo, one_thread_at_a_time_has_it) {
  constexpr int times = 2'000;
  RequestOrder order;
  FifoMutex mutex{order};
  int counted = 0;
  std::vector<std::unique_ptr<os::Thread>> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.push_back(std::make_unique<os::Thread>(os::ThreadSettings{}, [&] {
      for (int i = 0; i < times; ++i) {
        const std::lock_guard lock{mutex};
        const int before = counted;
        if (i % 100 == 0) std::this_thread::yield();  // others come to wait
        counted = before + 1;
      }
    }));
  }
  for (const auto& thread : threads) {
    thread->join();
  }
  EXPECT_EQ(counted, 3 * times);
}

TEST(Fifo, a_holder_that_asked_first_comes_before_all_others_of_its_core) {
  RequestOrder order;
  FifoMutex first{order};
  FifoMutex second{order};
  first.lock();  // by a thread of no core
  std::atomic<bool> waits{false};
  std::atomic<bool> both_asked{false};
  std::atomic<bool> holds{false};
  std::atomic<bool> gave_way{false};
  std::atomic<bool> ended{false};
  std::vector<int> high_had;
  std::vector<int> low_had;
  Executor executor{fixed_priorities()};
  const auto high = executor.add(message("high", "outside", 50, 50ms), {[&](const auto&) {
                                   EXPECT_FALSE(first.request());
                                   waits = true;
                                   FifoMutex::wait();
                                   high_had.push_back(priority_now());
                                   holds = true;
                                   EXPECT_TRUE(eventually([&] { return gave_way.load(); }));
                                   first.unlock();
                                   high_had.push_back(priority_now());
                                 }});
  executor.add(timer("low", never_again, 10), {[&](const auto&) {
                 low_had.push_back(priority_now());
                 high.release.notify();
                 EXPECT_TRUE(eventually([&] { return waits.load(); }));
                 second.lock();  // asks later
                 low_had.push_back(priority_now());
                 both_asked = true;
                 EXPECT_TRUE(eventually([&] { return holds.load(); }));
                 low_had.push_back(priority_now());
                 gave_way = true;
                 second.unlock();
                 low_had.push_back(priority_now());
                 ended = true;
               }});
  executor.start();
  EXPECT_TRUE(eventually([&] { return both_asked.load(); }));
  first.unlock();
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
  executor.stop();
  ASSERT_EQ(low_had.size(), 4U);
  if (low_had.front() == 0) {
    GTEST_SKIP() << "no real-time priorities here";
  }
  const int above_all = low_had[1];
  EXPECT_GE(above_all, os::max_priority);  // one more, if the process may have that
  EXPECT_EQ(low_had, (std::vector{10, above_all, 10, 10}));
  EXPECT_EQ(high_had, (std::vector{above_all, 50}));
}

// The executor cannot keep a callback with a thread of its own from starting.
TEST(Fifo, holders_of_other_mutexes_have_the_priority_that_is_asked_for) {
  executor::CeilingMutex ceiling{"m", 60};
  executor::SpinMutex spin{os::max_priority + 1};
  std::atomic<bool> ended{false};
  std::vector<int> had;
  Executor executor{fixed_priorities()};
  sched::Task task = timer("low", never_again, 10);
  task.locks = {"m"};
  executor.add(task, {[&](const auto&) {
                 had.push_back(priority_now());
                 {
                   const std::lock_guard guard{ceiling};
                   had.push_back(priority_now());
                 }
                 {
                   const std::lock_guard guard{spin};
                   had.push_back(priority_now());
                 }
                 had.push_back(priority_now());
                 ended = true;
               }});
  executor.start();
  EXPECT_TRUE(eventually([&] { return ended.load(); }));
  executor.stop();
  ASSERT_EQ(had.size(), 4U);
  if (had.front() == 0) {
    GTEST_SKIP() << "no real-time priorities here";
  }
  EXPECT_GE(had[2], os::max_priority);
  had[2] = 0;
  EXPECT_EQ(had, (std::vector{10, 60, 0, 10}));
}

}  // namespace
}  // namespace takt::test
